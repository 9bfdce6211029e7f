"""Printed sheets: corner blocks, mats and boards as vectors, PDF and pictures."""
