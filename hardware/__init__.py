"""Cameras, LEDs, buttons, score displays, the knock sensor: a protocol per kind, real adapters, strict public fakes."""
