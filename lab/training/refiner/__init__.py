"""Train the refiner, which accepts and corrects the detector's proposals."""
