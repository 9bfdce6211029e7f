"""Several pictures: wait until the table is still, detect changes and follow each tile."""
