"""Parts that nobody has to solder: shown and pressed in a terminal or on a page."""
