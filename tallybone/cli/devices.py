"""Commands about devices at a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tallybone.choices import DisplayKind
from tallybone.cli.app import app


@app.command("cameras")
def _cameras(
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per camera.")] = False,
) -> None:
    """List the cameras that are there, and what to give `play --camera` for each."""
    from tallybone.cli.cameras_command import list_cameras

    raise typer.Exit(list_cameras(as_json=as_json))


@app.command("listen")
def _listen(
    recording: Annotated[Path, typer.Argument(metavar="FILE.wav", help="Sound of a table.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one line of JSON per knock.")] = False,
    says_all: Annotated[bool, typer.Option("--all", help="Say every sudden sound, with its kind.")] = False,
) -> None:
    """Listen to a recording: every knock on the table, and when."""
    from tallybone.cli.listen_command import listen

    raise typer.Exit(listen(recording, as_json=as_json, says_all=says_all))


@app.command("emulate-display")
def _emulate_display(
    kind: Annotated[DisplayKind, typer.Argument(metavar="KIND", help="serlcd, serlcd-20x4, segment or nextion.")],
    *,
    at: Annotated[Path | None, typer.Option(metavar="PATH", help="Where programs find it, as at /dev/ttyUSB0.")] = None,
    baud: Annotated[int, typer.Option(help="Bits a second on its wire.", min=1200, max=1_000_000)] = 9600,
) -> None:
    """Stand in for a score display: a serial port that shows in the terminal what the real one would."""
    from tallybone.cli.emulate_display_command import emulate_display

    raise typer.Exit(emulate_display(kind, at=at, baud=baud))


@app.command("doctor")
def _doctor(
    *,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Else /etc/tallybone/table.toml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one object of JSON.")] = False,
    bundle: Annotated[
        Path | None, typer.Option(metavar="FILE.zip", help="Write all that helps whoever helps, without secrets.")
    ] = None,
) -> None:
    """Check every part of the table for real, and say how to mend what is wrong."""
    from tallybone.doctor.command import doctor

    raise typer.Exit(doctor(config, as_json=as_json, bundle=bundle))


hardware = typer.Typer(help="LEDs, buttons, knock sensor and displays.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(hardware, name="hardware")


@hardware.callback()
def _of_hardware() -> None:
    """LEDs, buttons, knock sensor and displays."""


@hardware.command("test")
def _hardware_test(
    *, config: Annotated[Path | None, typer.Option(metavar="FILE", help="Else /etc/tallybone/table.toml.")] = None
) -> None:
    """Walk through LEDs, buttons, knock and displays with you: what do you see, what comes when you press?"""
    from tallybone.cli.hardware_command import walk_through

    raise typer.Exit(walk_through(config))
