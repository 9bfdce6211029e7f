"""Pixels to tiles, joins and changes on the table: numpy, OpenCV and scikit-learn; no rules, no devices."""
