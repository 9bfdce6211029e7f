"""Simulate matches at rendered tables, with hands, sounds and presses, and record them with their truth."""
