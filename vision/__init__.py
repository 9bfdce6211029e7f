"""Computer vision: read tiles, joins and table changes from images. Knows no rules and no devices."""
