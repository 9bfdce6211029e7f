"""Recordings of a sitting: one MCAP file with all that was consumed, in feeding order (docs/recording.md)."""
