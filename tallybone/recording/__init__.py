"""Write and read recordings of a sitting: one MCAP file with all it consumed, in feeding order (docs/recording.md)."""
