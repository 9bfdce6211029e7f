"""Check every part of a table for real, and say how to repair it."""
