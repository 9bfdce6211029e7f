"""Score displays: pages of scores as plain values, drivers, and emulations."""
