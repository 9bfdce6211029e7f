"""Turns recordings of a known scene into what the others need: lens, table, zones, tile set, knock."""
