"""All settings, with their defaults: the one place for both."""
