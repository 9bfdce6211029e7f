"""Evaluate readings of labelled photos, and recordings of simulated tables with ground truth."""
