"""Image files to upright pixels, the pyramid of levels, and drawing on images."""
