"""Virtual LEDs, buttons, displays and knock sensors, shown and pressed in a terminal or on a page."""
