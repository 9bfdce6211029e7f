"""From rendered tables to the heads that the reader ships: `tallybone train`. Needs scikit-learn."""
