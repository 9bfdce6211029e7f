"""Check every part of a table, and suggest fixes."""
