"""Buttons: panels, drivers, and detection of short, long and double presses."""
