"""Emulated score displays: models of their firmware behind a pseudo-terminal."""
