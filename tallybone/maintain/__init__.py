"""Maintenance of a table: backup and restore."""
