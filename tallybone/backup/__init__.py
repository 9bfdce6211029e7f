"""Backup and restore: everything that a table keeps, as one file."""
