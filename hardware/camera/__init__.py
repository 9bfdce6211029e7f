"""Cameras: Raspberry Pi and USB cameras, and null and fake implementations."""
