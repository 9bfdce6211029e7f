"""Run `rules` and `score`, and define the `--rules` option."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from engine.errors import EngineError
from engine.record.play import Line, PlayedRecord, RecordResult, play_record
from engine.rules.options import PROFILES, profile
from tallybone.cli.app import COMMANDS, commands_of

_STDIN = "-"

commands = commands_of()


def game_option(about: str, *, or_none: bool = False) -> Any:
    """Return the option `--rules` for the name of a game. With *or_none*, `free` (no game) is allowed too."""
    games = [rules.name for rules in PROFILES if rules.refereed]
    names = ["free", *games] if or_none else games

    def named(text: str) -> str:
        try:
            rules = profile(text)
        except EngineError as error:
            raise typer.BadParameter(str(error)) from None
        if rules.name not in names:
            raise typer.BadParameter(f"{text} is not available here; choose one of {', '.join(games)}.")
        return rules.name

    return typer.Option("--rules", metavar=f"<{'|'.join(names)}>", parser=named, help=about)


@commands.command("rules", help=COMMANDS["rules"].help)
def _rules(
    game: Annotated[
        str | None, typer.Argument(metavar="GAME", help="Game to describe. Default: list all games.")
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="Options that differ from the defaults, such as target=200."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    from tallybone.show.rules import show_rules

    raise typer.Exit(show_rules(game, options or [], as_json=as_json))


@commands.command("score", help=COMMANDS["score"].help)
def _score(
    record: Annotated[Path, typer.Argument(metavar="GAME.dgr", help="Game record to score; - for stdin.")],
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one line of JSON per move, and one with the result.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Reject moves against the rules.")] = False,
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
    """Score a game record and print the result.

    Args:
        path: Game record, "-" for stdin.
        as_json: Print a line of JSON per move and one with the result, instead of a score sheet.
        strict: Reject moves against the rules instead of marking them.
        show: Draw the layout after every play.
        out: Receives the result, by default stdout.
        err: Receives errors, by default stderr.

    Returns:
        The exit code: 0, or 1 if the record could not be read or, with *strict*, breaks the rules.
    """
    from engine.record.text import parse_records
    from tallybone.show.score_sheet import print_sheet
    from tallybone.terminal import Output

    output = Output.of("score", out, err)
    name = "stdin" if str(path) == _STDIN else str(path)
    try:
        matches = [play_record(record, strict=strict) for record in parse_records(_read(path))]
    except (OSError, EngineError, UnicodeDecodeError) as error:
        return output.complain(f"{name}: {_why(error)}")
    for number, played in enumerate(matches, 1):
        match = {"match": number} if len(matches) > 1 else {}
        if as_json:
            for line in played.lines:
                output.write(format_line(line, played, match))
            output.write(json.dumps({**match, "result": _result(played.result, played)}))
            continue
        if match:
            output.write(("\n" if number > 1 else "") + f"Match {number} of {len(matches)}")
        print_sheet(output.console, played, show=show)
    return int(strict and any(played.result.problems for played in matches))


def format_line(line: Line, played: PlayedRecord, match: Mapping[str, int]) -> str:
    """Return one line of JSON for a move, without a newline. *match* is the number of one of several matches."""
    place = {"line": line.place.line, "column": line.place.column} if line.problem else {}
    fields = {
        **match,
        "hand": line.hand,
        "seat": line.seat,
        "action": line.action,
        "count": line.count,
        "points": line.points,
        "totals": _by_letter(line.totals, played),
        "problem": line.problem,
        **place,
    }
    return json.dumps(fields)


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
    """Return the text of a record. Of a text above the maximum size, read only enough to prove that it is too long."""
    from engine.record.text import MAX_CHARACTERS

    most = 4 * (MAX_CHARACTERS + 1)
    if str(path) == _STDIN:
        return sys.stdin.buffer.read(most).decode()
    with path.open("rb") as file:
        return file.read(most).decode()


def _why(error: OSError | EngineError | UnicodeDecodeError) -> str:
    from tallybone.files import reason_of

    if isinstance(error, UnicodeDecodeError):
        return f"expected a text in UTF-8, but byte {error.start} is invalid"
    return reason_of(error) if isinstance(error, OSError) else str(error)
