"""Score displays that are not there: their firmware step by step, behind a pty."""
