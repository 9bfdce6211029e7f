"""Estimate how the camera has moved, and align pictures with the first one."""
