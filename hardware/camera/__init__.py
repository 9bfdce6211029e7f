"""Cameras: Raspberry Pi, USB, none, and a strict fake."""
