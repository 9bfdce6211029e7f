"""Play a live game: the loop, the table around it, its parts, keys, displays and recording."""
