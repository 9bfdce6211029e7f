"""Commands about rules and written games."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tallybone.cli.app import app


@app.command("rules")
def _rules(
    game: Annotated[str | None, typer.Argument(metavar="GAME", help="One game; without it all are listed.")] = None,
    options: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE", help="What is agreed otherwise, such as target=200.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the games and what can be agreed on, or say what holds in one."""
    from tallybone.cli.games import show_rules

    raise typer.Exit(show_rules(game, options or [], as_json=as_json))


@app.command("score")
def _score(
    record: Annotated[Path, typer.Argument(metavar="GAME.dgr", help="A written game; - for stdin.")],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON per move, and one with the result.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse what is against the rules.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Draw the layout after every play.")] = False,
) -> None:
    """Score a written game (docs/game_record.md): counts, points, mistakes."""
    from tallybone.cli.score_command import score_record

    raise typer.Exit(score_record(record, as_json=as_json, strict=strict, show=show))
