"""Calibrate a table: a module for each group of commands, and a guided calibration."""
