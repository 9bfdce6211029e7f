"""Write and read recordings: MCAP files with all inputs of a sitting in order (docs/reference/recording.md)."""
