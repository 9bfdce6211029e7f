"""Read a single image: from pixels to tiles, pips and joins."""
