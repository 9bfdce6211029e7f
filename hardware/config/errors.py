"""Exception for a faulty configuration, which lists all faults at once."""

from __future__ import annotations


class ConfigError(ValueError):
    """A configuration that cannot be used.

    Attributes:
        problems: Each begins with the table and the key that it is about.
    """

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
