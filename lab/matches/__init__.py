"""Simulate matches at rendered tables, with hands, sounds and button presses, and record them with ground truth."""
