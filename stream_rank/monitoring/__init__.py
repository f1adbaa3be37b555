"""What others may see of a daemon: logs, metrics, and whether it is well."""
