"""From rendered tables to the networks and the head that the reader ships: `tallybone train` and its kin."""
