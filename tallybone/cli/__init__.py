"""The command line: names, options and help; each module adds its commands to `app`."""

from tallybone.cli import tables, club, photographs, rendered, rules, calibrate, calibrated, devices, keeping, training  # noqa: F401, I001 - in the order of the help
from tallybone.cli.app import app


def main() -> None:
    """Run the command line."""
    app()
