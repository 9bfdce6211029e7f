"""Renderer of table pictures with exact ground truth."""
