"""Knock sensor drivers, one module each. `hardware.knock.driver` defines their interface."""
