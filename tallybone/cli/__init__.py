"""The command line: `app` has the table of all commands; each module has those of one group."""

from tallybone.cli.app import app


def main() -> None:
    """Run the command line."""
    app()
