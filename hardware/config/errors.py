"""Exception for an invalid configuration."""

from __future__ import annotations


class ConfigError(ValueError):
    """An invalid configuration. The message lists all problems.

    Attributes:
        problems: Messages, each prefixed with its table and key.
    """

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
