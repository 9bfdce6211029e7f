"""Errors in calls and configuration. Mistakes of players are data (`Problem`), not exceptions."""


class EngineError(ValueError):
    """A value or call that is invalid in every game."""
