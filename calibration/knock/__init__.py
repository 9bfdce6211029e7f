"""Adapt the sound classifier to the table and microphone."""
