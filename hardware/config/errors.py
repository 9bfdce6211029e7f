"""What is wrong with a configuration: everything at once, so that nobody has to mend it line by line."""

from __future__ import annotations


class ConfigError(ValueError):
    """A configuration that cannot be used.

    Attributes:
        problems: Each begins with the table and the key that it is about.
    """

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
