"""Touches between tiles, and which of them are plays."""
