"""Commands about all that a table keeps."""

from __future__ import annotations

from pathlib import Path
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
    from tallybone.cli.backup_command import back_up

    raise typer.Exit(back_up(target, is_forced=force))


@app.command("restore")
def _restore(
    source: Annotated[str, typer.Argument(metavar="FILE", help="What `backup` has written; - for stdin.")],
) -> None:
    """Put everything back that is in a backup; what was there before is kept beside it."""
    from tallybone.cli.backup_command import put_back

    raise typer.Exit(put_back(source))


@app.command("update")
def _update(
    wheel: Annotated[Path, typer.Argument(metavar="FILE.whl", help="A version of Tallybone.")],
    *,
    sha256: Annotated[str | None, typer.Option(metavar="HEX", help="Refuse a file with another SHA-256.")] = None,
    signature: Annotated[
        Path | None, typer.Option(metavar="FILE.sig", help="Check it against /etc/tallybone/release_signers.")
    ] = None,
    wheels: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Take all that it needs from here; no network is needed.")
    ] = None,
    root: Annotated[Path, typer.Option(metavar="DIR", help="Another system's folder, for trying it.")] = Path("/"),
) -> None:
    """Exchange an installed table's version; where the new one does not become ready, the old one runs again."""
    from tallybone.cli.update_command import UpdateWishes, update
    from tallybone.clock import wall_time

    wishes = UpdateWishes(wheel=wheel, sha256=sha256, signature=signature, wheels=wheels, root=root)
    raise typer.Exit(update(wishes, now=wall_time()))
