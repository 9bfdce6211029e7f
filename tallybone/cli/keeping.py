"""Commands about all that a table keeps."""

from __future__ import annotations

from typing import Annotated

import typer

from tallybone.cli.app import app


@app.command("backup")
def _backup(
    target: Annotated[str, typer.Argument(metavar="FILE", help="What to write, such as table.tar; - for stdout.")],
    *,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write everything that the table keeps to one file: recordings, calibration, settings, configuration."""
    from tallybone.backup_command import back_up

    raise typer.Exit(back_up(target, is_forced=force))


@app.command("restore")
def _restore(
    source: Annotated[str, typer.Argument(metavar="FILE", help="What `backup` has written; - for stdin.")],
) -> None:
    """Put everything back that is in a backup; what was there before is kept beside it."""
    from tallybone.backup_command import put_back

    raise typer.Exit(put_back(source))
