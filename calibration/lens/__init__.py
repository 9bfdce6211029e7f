"""Lens model of a camera, measured from views of a printed board or known for a Raspberry Pi camera."""
