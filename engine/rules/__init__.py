"""Rules of the known games, and their options."""
