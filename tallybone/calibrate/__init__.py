"""Calibrate a table: one module for each command, and the guide that goes through all of them."""
