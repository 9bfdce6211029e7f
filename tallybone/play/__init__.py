"""Run a live game: the main loop, the table around it, its parts, keys, displays and recording."""
