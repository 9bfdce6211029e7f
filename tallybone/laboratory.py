"""Parts of the distribution `tallybone-lab`, found by entry points: its commands and simulated tables."""

from typing import Any

COMMANDS = "tallybone.commands"
SIMULATIONS = "tallybone.simulations"
"""Groups of entry points."""
SIMULATED = "simulated"
"""Source of a simulated camera or microphone."""


class LabMissingError(OSError):
    """The distribution `tallybone-lab` is not installed."""


def from_lab(group: str, name: str, *, wanted: str) -> Any:
    """Return the object of an entry point. *wanted* describes it for users.

    Raises:
        LabMissingError: If no distribution has such an entry point.
    """
    from importlib.metadata import entry_points  # a fifth of the time of `tallybone --help`

    for point in entry_points(group=group, name=name):
        return point.load()
    raise LabMissingError(
        f"{wanted} is a part of tallybone-lab, which is not installed: run `make demo` in Tallybone's folder,"
        " or install its wheel (docs/start/install.md)"
    )
