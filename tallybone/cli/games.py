"""Run `rules` and `score`: the games and their options, and written game records; define the option for a game."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from engine.errors import EngineError
from engine.record.play import Line, PlayedRecord, RecordResult, play_record
from engine.rules.profiles import PROFILES, profile
from tallybone.cli.app import COMMANDS, commands_of

_STDIN = "-"

commands = commands_of()


def game_option(about: str, *, or_none: bool = False) -> Any:
    """Return the option `--rules`, which takes the name of a game; *or_none* also takes `free`, no game."""
    games = [rules.name for rules in PROFILES if rules.refereed]
    names = ["free", *games] if or_none else games

    def named(text: str) -> str:
        try:
            rules = profile(text)
        except EngineError as error:
            raise typer.BadParameter(str(error)) from None
        if rules.name not in names:
            raise typer.BadParameter(f"{text} is not a game here; choose one of {', '.join(games)}.")
        return rules.name

    return typer.Option("--rules", metavar=f"<{'|'.join(names)}>", parser=named, help=about)


@commands.command("rules", help=COMMANDS["rules"].help)
def _rules(
    game: Annotated[str | None, typer.Argument(metavar="GAME", help="One game; without it all are listed.")] = None,
    options: Annotated[
        list[str] | None, typer.Argument(metavar="KEY=VALUE", help="What is agreed otherwise, such as target=200.")
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    from tallybone.show.rules import show_rules

    raise typer.Exit(show_rules(game, options or [], as_json=as_json))


@commands.command("score", help=COMMANDS["score"].help)
def _score(
    record: Annotated[Path, typer.Argument(metavar="GAME.dgr", help="A written game; - for stdin.")],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON per move, and one with the result.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse what is against the rules.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Draw the layout after every play.")] = False,
) -> None:
    raise typer.Exit(score_record(record, as_json=as_json, strict=strict, show=show))


def score_record(
    path: Path,
    *,
    as_json: bool = False,
    strict: bool = False,
    show: bool = False,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Play a game record by its rules and print the score.

    Args:
        path: The record; "-" for stdin.
        as_json: Print a line of JSON per move and one with the result, instead of a score sheet.
        strict: Refuse moves against the rules instead of keeping them.
        show: Draw the layout after every play.
        out: Takes the score, by default stdout.
        err: Takes errors, by default stderr.

    Returns:
        The exit code: 0, or 1 if the record could not be read.
    """
    from engine.record.text import parse_record
    from tallybone.show.score_sheet import print_sheet
    from tallybone.terminal import Output

    output = Output.of("score", out, err)
    name = "stdin" if str(path) == _STDIN else str(path)
    try:
        played = play_record(parse_record(_read(path)), strict=strict)
    except (OSError, EngineError, UnicodeDecodeError) as error:
        return output.complain(f"{name}: {_why(error)}")
    if not as_json:
        print_sheet(output.console, played, show=show)
        return 0
    for line in played.lines:
        output.write(format_line(line, played))
    output.write(json.dumps({"result": _result(played.result, played)}))
    return 0


def format_line(line: Line, played: PlayedRecord) -> str:
    """Return a move as one line of JSON, without a line end."""
    said = {
        "hand": line.hand,
        "seat": line.seat,
        "action": line.action,
        "count": line.count,
        "points": line.points,
        "totals": _by_letter(line.totals, played),
        "problem": line.problem,
    }
    return json.dumps(said)


def _result(result: RecordResult, played: PlayedRecord) -> dict[str, object]:
    return {
        "hands": result.hands,
        "totals": _by_letter(result.totals, played),
        "winner": result.winner,
        "over": result.over,
        "problems": result.problems,
        "reason": result.reason,
    }


def _by_letter(totals: tuple[int, ...], played: PlayedRecord) -> dict[str, int]:
    return dict(zip(played.opening.letters, totals, strict=True))


def _read(path: Path) -> str:
    """Return the text of a record, cut beyond the longest one; a character takes at most four bytes."""
    from engine.record.text import MAX_CHARACTERS

    most = 4 * (MAX_CHARACTERS + 1)
    if str(path) == _STDIN:
        return sys.stdin.buffer.read(most).decode()
    with path.open("rb") as file:
        return file.read(most).decode()


def _why(error: OSError | EngineError | UnicodeDecodeError) -> str:
    from tallybone.files import reason_of

    if isinstance(error, UnicodeDecodeError):
        return f"expected a text in UTF-8, but byte {error.start} is none"
    return reason_of(error) if isinstance(error, OSError) else str(error)
