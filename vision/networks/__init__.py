"""Neural networks and classifiers, evaluated with OpenCV and numpy."""
