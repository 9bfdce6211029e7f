"""Score display drivers, one module each. `hardware.display.driver` defines their interface."""
