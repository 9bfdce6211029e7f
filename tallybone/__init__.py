"""Composition, command line and web: where the eye, the rules and the devices meet."""
