"""LEDs: what the table says with light, and everything that can shine."""
