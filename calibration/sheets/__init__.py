"""Printed sheets: corner blocks, mats and boards as vector drawings, PDF files and pictures."""
