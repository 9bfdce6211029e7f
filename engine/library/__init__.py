"""For programs that play: a table with known tiles, legal moves, odds and suggestions."""
