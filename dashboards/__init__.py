"""Grafana dashboards, written in Python so that they know no metric that the catalogue does not; and Prometheus rules."""
