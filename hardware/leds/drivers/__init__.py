"""Drivers of LEDs, one module each; `hardware.leds.driver` says what a driver is."""
