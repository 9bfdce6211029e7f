"""The drivers of score displays, one file each."""
