"""Errors of programmers and of configuration; what players do is data, never one of these."""


class EngineError(ValueError):
    """A value or a call that no game can mean."""
