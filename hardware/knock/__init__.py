"""Knock detection: a pure detector of knuckle knocks in sound, and the sensors that feed it."""
