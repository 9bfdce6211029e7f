"""Synthetic data: rendered pictures, modelled sounds, and the training of the shipped models on them."""
