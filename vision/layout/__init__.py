"""Find touching tiles, and decide which touches are joins."""
