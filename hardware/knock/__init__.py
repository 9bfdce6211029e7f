"""Knock detection: a pure detector of knuckle knocks in audio, and knock sensors."""
