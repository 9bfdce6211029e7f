"""Custom tile sets: learn the appearance of a player's own tiles from pictures of the whole set."""
