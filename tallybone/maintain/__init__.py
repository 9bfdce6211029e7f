"""Maintenance of a table: backup, restore and update."""
