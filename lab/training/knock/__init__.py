"""Train the sound classifier. The module `fit` needs torch."""
