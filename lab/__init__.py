"""The laboratory: rendered tables, modelled sounds, simulated matches, and training and evaluation with them."""
