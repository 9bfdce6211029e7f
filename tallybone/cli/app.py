"""The command line: its name and its common options. Commands import what they need when called: help stays quick."""

from __future__ import annotations

import os
from typing import Annotated

import typer

app = typer.Typer(
    name="tallybone",
    help="A camera over a domino table keeps the score.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # boxes around the help would double its time (0.2 s more of rich on a laptop)
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version() -> None:
    from importlib.metadata import version

    typer.echo(f"tallybone {version('tallybone')}")


def _version_asked(asked: bool) -> None:  # noqa: FBT001 - typer calls it so
    if asked:
        _say_version()
        raise typer.Exit


@app.callback()
def _common(
    context: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version_asked, is_eager=True, help="Say the version and stop.")
    ] = False,
) -> None:
    """Take the options that stand before a command."""
    if context.invoked_subcommand not in ("train", "train-finder"):
        # The heads are small: a second thread of numpy gains nothing, and on a busy machine it waits for a core that it
        # does not get (reads took ten times as long). numpy looks once, when it is imported.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@app.command("version")
def _version() -> None:
    """Say the version."""
    _say_version()
