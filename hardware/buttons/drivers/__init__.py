"""Drivers of buttons, one module each; `hardware.buttons.driver` says what a driver is."""
