"""Train the knock classifier with scikit-learn."""
