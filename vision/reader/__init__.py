"""One picture: from pixels to tiles, pips and joins."""
