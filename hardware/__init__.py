"""Cameras, LEDs, buttons, score displays and knock sensors: a protocol for each, drivers, and strict fakes."""
