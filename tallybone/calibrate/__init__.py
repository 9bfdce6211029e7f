"""Calibrate a table: a module for each group of commands, and the guide that goes through all of them."""
