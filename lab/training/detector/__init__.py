"""Train the tile detector."""
