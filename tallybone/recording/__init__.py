"""Write and read recordings: an MCAP file with all inputs of a sitting, in feeding order (docs/recording.md)."""
