"""Button drivers, one module each. `hardware.buttons.driver` defines their interface."""
