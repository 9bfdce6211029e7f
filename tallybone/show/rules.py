"""Print all games and options, or the rules of a game, as tables or JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from engine.errors import EngineError, OptionsError
from engine.rules.options import (
    PRESETS,
    PROFILES,
    TEXTS,
    allowed_text,
    changed_options,
    matters,
    option_named,
    profile,
    value_meaning,
    value_text,
    with_options,
)
from engine.rules.rules import (
    OPTIONS,
    Choice,
    Group,
    Number,
    Option,
    Rules,
    ValueKind,
    deal_problems,
    seats_that_can_play,
)
from engine.tiles import set_name
from tallybone.terminal import Output

_INDENT = "  "
_KEY_WIDTH = len(_INDENT) + max(len(option.key) for option in OPTIONS)


def show_rules(
    game: str | None = None,
    choices: Sequence[str] = (),
    *,
    as_json: bool = False,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Print all games and options, or the rules of a game.

    Args:
        game: Name of the game. None to list all games and options.
        choices: Options of the game, each as key=value.
        as_json: Print a JSON object instead of tables.
        out: Stream for rules. None for stdout.
        err: Stream for errors. None for stderr.

    Returns:
        Exit code: 0, or 2 if the game or an option is invalid.
    """
    output = Output.of("rules", out, err)
    try:
        rules = None if game is None else _chosen(game, choices)
    except EngineError as error:
        for fault in error.faults if isinstance(error, OptionsError) else (str(error),):
            output.complain(fault)
        return 2
    if as_json:
        shown = _all_as_json() if rules is None else _game_as_json(rules)
        output.write(json.dumps(shown, ensure_ascii=False))
    elif rules is None:
        _print_all(output.console)
    else:
        _print_game(output.console, rules)
    return 0


def _chosen(game: str, choices: Sequence[str]) -> Rules:
    known = profile(game)
    rules = with_options(known, " ".join(choices))
    playable = seats_that_can_play(rules)
    has_seats_option = (rules.seats_min, rules.seats_max) != (known.seats_min, known.seats_max)
    if not playable:
        raise OptionsError(deal_problems(rules, rules.seats_min))
    if has_seats_option and rules.seats_max is not None and rules.seats_max > playable[-1]:
        raise OptionsError(deal_problems(rules, rules.seats_max))
    return rules


def _print_all(console: Console) -> None:
    console.print("Games", style="bold")
    table = _columns(name=2 + max(len(rules.name) for rules in PROFILES), header=True)
    for heading in ("players", "set", "target"):
        table.add_column(heading, no_wrap=True)
    table.add_column("what it is")
    for rules in PROFILES:
        text = TEXTS[rules.name]
        # The number of players, the tile set and the target of a game.
        sets = set_name(rules.max_pips)
        if rules.copies > 1:
            sets = f"{rules.copies} {sets}"
        if not rules.refereed:
            facts = "any", "any", "-"
        else:
            facts = (
                value_text(rules, option_named("players")),
                sets,
                "-" if rules.target is None else str(rules.target),
            )
        table.add_row(_INDENT + rules.name, *facts, f"{text.elsewhere}. {text.what}")
    console.print(table)
    console.print("Run tallybone rules GAME for the options of one game.")
    for group in Group:
        console.print()
        console.print(f"Options: {group.value}", style="bold")
        table = _columns(name=_KEY_WIDTH)
        table.add_column()
        for option in (option for option in OPTIONS if option.group is group):
            _add_option(table, option)
        console.print(table)
    console.print()
    console.print("Shortcuts for several options; an option given by itself takes precedence", style="bold")
    for preset in PRESETS:
        only = f" (only in {', '.join(preset.games)})" if preset.games else ""
        options = " ".join(f"{key}={value}" for key, value in preset.options)
        console.print(f"{_INDENT}{preset.key}={preset.value}", markup=False)
        console.print(Padding(Text(preset.meaning + only + (f": {options}" if options else "")), (0, 0, 0, 6)))
    console.print()
    console.print("Try one: tallybone rules allfives scoring=cribbage hand=5")


def _add_option(table: Table, option: Option) -> None:
    """Add rows with the meaning of an option, its usual value, the games with other values, and its possible values."""
    usual, others = _usual(option)
    elsewhere = "; ".join(f"{', '.join(games)}: {value}" for value, games in others)
    usually = f"usually {usual}" + (f" ({elsewhere})" if elsewhere else "")
    table.add_row(_INDENT + option.key, option.meaning)
    if isinstance(option.values, Choice):
        table.add_row("", _indented(usually))
        for value, meaning in option.values.meanings:
            table.add_row(f"{_INDENT * 2}{value}", _indented(meaning))
    else:
        none = f" ({option.values.none})" if isinstance(option.values, Number) and option.values.none else ""
        table.add_row("", _indented(f"{allowed_text(option)}{none}; {usually}"))


def _usual(option: Option) -> tuple[str, list[tuple[str, list[str]]]]:
    """Return the most common value of an option, and every other value with its games."""
    # Games in which the option has no effect are not counted.
    games: dict[str, list[str]] = {}
    for rules in PROFILES:
        if rules.refereed and matters(rules, option):
            games.setdefault(value_text(rules, option), []).append(rules.name)
    if not games:
        return value_text(PROFILES[0], option), []
    usual = max(games, key=lambda value: len(games[value]))
    return usual, [(value, names) for value, names in games.items() if value != usual]


def _print_game(console: Console, rules: Rules) -> None:
    known = profile(rules.name)
    changed = changed_options(rules)
    text = TEXTS[rules.name]
    console.print(f"{rules.name} ({text.elsewhere})", style="bold")
    console.print(text.what)
    console.print()
    shown = [option for option in OPTIONS if matters(rules, option) or option.key in changed]
    for group in Group:
        options = [option for option in shown if option.group is group]
        if options:
            console.print(group.value, style="bold")
            table = _columns(name=_KEY_WIDTH, value=max(len(value_text(rules, option)) for option in shown))
            table.add_column()
            for option in options:
                _add_value(table, option, rules, known if option.key in changed else None)
            console.print(table)
            console.print()
    if changed:
        options_text = " ".join(f"{key}={value}" for key, value in changed.items())
        console.print("* differs from the default of this game. In a game record:", markup=False)
        console.print(f'[Rules "{rules.name}"] [Options "{options_text}"]', markup=False, soft_wrap=True)
    else:
        console.print("Run tallybone rules for the values of each option.")


def _add_value(table: Table, option: Option, rules: Rules, known: Rules | None) -> None:
    """Add a row with the value of an option. *known* are the game's usual rules, or None if the value is unchanged."""
    value, meaning = value_text(rules, option), value_meaning(rules, option)
    if known is None:
        table.add_row(_INDENT + option.key, value, meaning)
    else:
        table.add_row(f"* {option.key}", value, f"{meaning} (usually {value_text(known, option)})", style="yellow")


def _columns(*, header: bool = False, **widths: int) -> Table:
    """Return a table without lines. *widths* are the minimum widths of its first columns, in characters."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=header)
    for heading, width in widths.items():
        table.add_column(_INDENT + heading, no_wrap=True, min_width=width)
    return table


def _indented(text: str) -> Padding:
    return Padding(Text(text), (0, 0, 0, len(_INDENT)))


def _all_as_json() -> dict[str, object]:
    games = [
        {
            "game": rules.name,
            "elsewhere": TEXTS[rules.name].elsewhere,
            "what": TEXTS[rules.name].what,
            "options": _values(rules),
        }
        for rules in PROFILES
    ]
    options = [
        {
            "option": option.key,
            "group": option.group.value,
            "meaning": option.meaning,
            "allowed": allowed_text(option),
            "usual": _usual(option)[0],
            "values": dict(option.values.meanings) if isinstance(option.values, Choice) else None,
        }
        for option in OPTIONS
    ]
    presets = [
        {
            "shortcut": f"{preset.key}={preset.value}",
            "meaning": preset.meaning,
            "options": dict(preset.options),
            "games": preset.games or [rules.name for rules in PROFILES if rules.refereed],
        }
        for preset in PRESETS
    ]
    return {"games": games, "options": options, "shortcuts": presets}


def _game_as_json(rules: Rules) -> dict[str, object]:
    return {"game": rules.name, "options": _values(rules), "changed": changed_options(rules)}


def _values(rules: Rules) -> dict[str, object]:
    """Return the options that have an effect in *rules*, with their values."""
    # Numbers and booleans stay, others become text.
    values: dict[str, object] = {}
    for option in OPTIONS:
        if matters(rules, option):
            plain = isinstance(option.values, Number) or option.values in (ValueKind.YES_NO, ValueKind.SET)
            values[option.key] = option.value_in(rules) if plain else value_text(rules, option)
    return values
