"""Poses of tiles, the plane of the table, selection without overlaps, and tile sets."""
