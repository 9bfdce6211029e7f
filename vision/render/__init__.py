"""Draw pictures of domino tables with exact truth: looks, layouts, light and lens, all seeded."""
