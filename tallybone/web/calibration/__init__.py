"""Guided calibration on the page: its state for viewers, and what they press."""
