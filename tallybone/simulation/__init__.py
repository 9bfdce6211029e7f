"""Whole matches at a rendered table: hands, tiles, light, sounds and buttons in time, with the truth of all of it."""
