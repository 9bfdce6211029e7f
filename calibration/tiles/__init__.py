"""Custom tile sets, learned from pictures of the whole set."""
