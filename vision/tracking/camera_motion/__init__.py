"""Estimate camera motion, and align images with the first one."""
