"""LED drivers, one module each. `hardware.leds.driver` defines their interface."""
