"""Buttons: from levels of a pin to short, long and double presses."""
