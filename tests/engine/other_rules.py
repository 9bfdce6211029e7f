"""Check that tests hold the options of docs/reference/rules_trace.md: `python -m tests.engine.other_rules GAME`.

Each option of a sentence gets another value in the game, and one of the tests of that sentence has to fail. Each
variation that a sentence offers is ignored, and one of them has to fail as well. Prints the sentences without one.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping

import hypothesis  # noqa: F401 - loaded once, not in each child
import pytest

import engine
from engine.errors import OptionsError
from engine.record import text as record_text
from engine.rules import options
from engine.rules.options import PRESETS, option_named, parse_options, profile, with_options
from engine.rules.rules import OPTIONS, Choice, Number, Rules, ValueKind
from tests.engine.rule_book import ROOT
from tests.engine.rules_trace import Row, path_of, read_page, rows_of

_OPTIONS = ("-q", "-pno:cacheprovider", "-ppytest_timeout", "--tb=no", "-Wignore::pytest.PytestAssertRewriteWarning")


def sentences_without_test(game: str) -> list[str]:
    """Return the sentences of a game, each with an option, of which no test fails without that option."""
    rows = [row for row in rows_of(read_page()) if row.game == game]
    found = []
    for pair in dict.fromkeys(pair for row in rows for pair in row.defaults):
        changes = (_other_game(game, pair[0], other) for other in _other_values(profile(game), *pair))
        found += _not_held([row for row in rows if pair in row.defaults], pair, changes)
    for pair in dict.fromkeys(pair for row in rows for pair in row.variations):
        found += _not_held([row for row in rows if pair in row.variations], pair, iter([_ignored(*pair)]))
    return found


def _not_held(rows: list[Row], pair: tuple[str, str], changes: Iterator[Callable[[], None]]) -> list[str]:
    """Return the rows of which no test fails after any of the changes."""
    for change in changes:
        failed = _failing(change, {path_of(test) for row in rows for test in row.tests})
        rows = [row for row in rows if not failed & {path_of(test) for test in row.tests}]
        if not rows:
            break
    return [f"text {row.text}, sentence {row.number}: {pair[0]}={pair[1]}" for row in rows]


def _failing(change: Callable[[], None], tests: Collection[str]) -> set[str]:
    """Return the tests that fail after a change. They run in a child, because tests copy rules on import."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            failures = _Failures()
            with contextlib.redirect_stdout(io.StringIO()):
                change()
                pytest.main([*_OPTIONS, *sorted(tests)], plugins=[failures])
            os.write(writing, "\n".join(failures.names).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as answer:
        names = set(answer.read().split())
    os.waitpid(child, 0)
    return names


class _Failures:
    """Plugin that collects the names of failed tests: with their case, and without."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.names |= {report.nodeid, report.nodeid.partition("[")[0]}


def _other_values(rules: Rules, key: str, value: str) -> Iterator[str]:
    """Yield other values of an option that the game accepts."""
    for other in _candidates(key, value):
        with contextlib.suppress(OptionsError):
            if with_options(rules, {key: other}) != rules:
                yield other


def _candidates(key: str, value: str) -> list[str]:
    if key not in {option.key for option in OPTIONS}:
        return [preset.value for preset in PRESETS if preset.key == key]
    match option_named(key).values:
        case Choice(meanings):
            return [word.value for word, _ in meanings]
        case ValueKind.YES_NO:
            return ["yes", "no"]
        case ValueKind.SET:
            return ["6", "9"]
        case ValueKind.PLAYERS:
            return ["3+", "2-3", "5-6"]
        case ValueKind.DEAL:
            return ["6", "5", "7,3:6,4:5"]
        case Number():
            numbers = [] if value == "none" else [str(int(value) + 1), str(int(value) - 1), "none"]
            return [*numbers, "3", "5", "7", "11", "50", "60"]


def _other_game(game: str, key: str, value: str) -> Callable[[], None]:
    """Return a change that gives a game, and the game that is made from it, another value of an option."""

    def change() -> None:
        for name, rules in vars(options).copy().items():
            if isinstance(rules, Rules) and rules.name in {game, "cutthroat" if game == "twoset" else game}:
                with contextlib.suppress(OptionsError):
                    _set_everywhere(name, with_options(rules, {key: value}))
        known = {rules.name: rules for rules in vars(options).values() if isinstance(rules, Rules)}
        _set_everywhere("PROFILES", tuple(known[rules.name] for rules in options.PROFILES))

    return change


def _ignored(key: str, value: str) -> Callable[[], None]:
    """Return a change that ignores a value of an option."""

    def chosen(rules: Rules, values: Mapping[str, str] | str) -> Rules:
        pairs = parse_options(values) if isinstance(values, str) else values
        return with_options(rules, {name: text for name, text in pairs.items() if (name, text) != (key, value)})

    return lambda: _set_everywhere("with_options", chosen)


def _set_everywhere(name: str, value: object) -> None:
    for module in (engine, options, options, record_text):
        if hasattr(module, name):
            setattr(module, name, value)


if __name__ == "__main__":
    os.chdir(ROOT)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # loading all plugins takes longer than the tests
    os.environ.pop("COUNTED", None)  # its tests are run here
    found = sentences_without_test(sys.argv[1]) or [f"{sys.argv[1]}: each option is held"]
    sys.stdout.write("\n".join(found) + "\n")
