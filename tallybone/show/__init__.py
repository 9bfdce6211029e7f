"""Show layouts, scores, readings and zones in a terminal or over pictures."""
