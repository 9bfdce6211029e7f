"""Commands about many tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from tallybone.cli.app import app


@app.command("hub")
def _hub(
    *,
    broker: Annotated[str, typer.Option(metavar="URL", help="mqtt://HOST[:PORT], or mqtts:// for one that encrypts.")],
    at: Annotated[
        str, typer.Option(metavar="[ADDRESS:]PORT", help="Where the page is; else port 8080 of the whole network.")
    ] = "",
    user: Annotated[str, typer.Option(help="Who reads from the broker.")] = "",
    password_file: Annotated[
        str, typer.Option(metavar="FILE", help="The password of this user, for nobody else to read.")
    ] = "",
    ca: Annotated[
        str, typer.Option(metavar="FILE", help="Who vouches for the broker; else whom the system trusts.")
    ] = "",
    cert: Annotated[str, typer.Option(metavar="FILE", help="What shows the broker who this is.")] = "",
    key: Annotated[str, typer.Option(metavar="FILE", help="Its key.")] = "",
    prefix: Annotated[str, typer.Option(help="What the topics of all tables begin with; else tallybone.")] = "",
    results: Annotated[
        str, typer.Option(metavar="FILE|none", help="Where results are kept; auto: in the state folder.")
    ] = "auto",
) -> None:
    """Serve one page of all tables of a club or a tournament: scores, who plays where, standings."""
    from tallybone.hub.command import HubWishes, run_hub

    said = {
        "broker": broker,
        "user": user,
        "password_file": password_file,
        "ca_file": ca,
        "cert_file": cert,
        "key_file": key,
        "prefix": prefix,
    }
    wishes = HubWishes(
        at=at,
        broker={name: text for name, text in said.items() if text},
        results=None if results in ("auto", "none") else Path(results),
        is_kept=results != "none",
    )
    raise typer.Exit(run_hub(wishes, os.environ, Path.home()))
