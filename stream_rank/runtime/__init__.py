"""The runtime: replay and daemon, composed of the other packages."""
