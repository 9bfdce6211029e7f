"""LEDs: what the table signals with light, and the drivers of LEDs."""
