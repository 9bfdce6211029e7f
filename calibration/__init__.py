"""Calibration from recordings of known scenes: lens, table, zones, tile set and knock detection."""
