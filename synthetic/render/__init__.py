"""Renderer: pictures of tables with exact ground truth."""
