"""Guided calibration, step by step, in a terminal or on a page."""
