"""Drivers of knock sensors, one module each; `hardware.knock.driver` says what a driver is."""
