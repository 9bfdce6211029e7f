"""Track a table over time: wait until it is still, detect changes and follow each tile."""
