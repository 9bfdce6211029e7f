"""Virtual LEDs, buttons, displays and knock sensors, operated in a terminal or on a page."""
