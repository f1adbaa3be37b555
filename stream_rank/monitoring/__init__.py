"""Monitoring: metrics, logs and the HTTP server."""
