"""Draw in a terminal and over pictures: layouts, scores, readings, zones."""
