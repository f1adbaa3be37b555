"""Machines that are not this one: a processor of another kind, and a newer CPython; part of `make soak`."""
