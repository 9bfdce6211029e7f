"""Tile poses, the table plane, selection of non-overlapping tiles, and tile sets."""
