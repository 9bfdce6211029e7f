"""`--serve` with or without a port: typer knows no option whose value may be left away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand

_SERVE = "--serve"


class PlayCommand(TyperCommand):
    """The command `play`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; `--serve` alone stands for the usual port."""
        return super().parse_args(ctx, with_port(args))


def with_port(args: Sequence[str]) -> list[str]:
    """Return arguments in which `--serve` always has a value.

    >>> with_port(["--serve", "--json"]), with_port(["--serve", "80"]), with_port(["--serve"])
    (['--serve=', '--json'], ['--serve', '80'], ['--serve='])
    >>> with_port([])
    []
    """
    following = (*args[1:], "-")[: len(args)]
    is_bare = (one == _SERVE and after.startswith("-") for one, after in zip(args, following, strict=True))
    return [f"{_SERVE}=" if bare else one for one, bare in zip(args, is_bare, strict=True)]
