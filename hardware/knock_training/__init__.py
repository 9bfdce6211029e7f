"""From modelled sound to the classifier that the knock detector ships: `tallybone train-knock`. Needs scikit-learn."""
