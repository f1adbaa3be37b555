"""A replay and the daemon, composed of parts."""
