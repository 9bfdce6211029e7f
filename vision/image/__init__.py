"""Image files, image pyramids, and annotated images."""
