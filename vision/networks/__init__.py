"""Neural networks and classifiers of the reader, evaluated by OpenCV and numpy."""
