"""Tests that every public function and constructor reports an argument of the wrong type as an EngineError."""

from __future__ import annotations

import inspect
import random
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, get_args, get_type_hints
from unittest import mock

import pytest

import engine
from engine import ALLFIVES, Draw, EngineError, Event, NewHand, Play, Reveal, Seat, Tile, apply, best_plays, errors
from engine.errors import has_type
from engine.state.match import NO_COURSE, ClaimKind
from tests.engine.table import tiles

TABLE = engine.Table.start(ALLFIVES, ("Ann", "Ben")).deal(random.Random(1))
TABLE = TABLE.play_or_raise(TABLE.moves[0])
VIEW = TABLE.seen_by(0)
RECORD = engine.record_of(TABLE.state)
END = TABLE.game.layout.ends[0]
# A valid argument of each type. The first that fits is used.
VALID: list[object] = [
    TABLE.state, TABLE.game, TABLE, VIEW, ALLFIVES, TABLE.game.layout, TABLE.game.layout.nodes[0], END.spot, RECORD,
    Tile(5, 6), TABLE.moves[0], TABLE.outcomes[0], random.Random(1), tiles("6-4 1-0"), [tiles("6-4"), tiles("1-0")],
    (Draw(Seat(0)),), engine.entries(TABLE.state), (), 1, "", ("Ann", "Ben"), {"target": "100"}, True, 0.5, None,
    *(choice for name in engine.__all__ if isinstance(kind := getattr(engine, name), type) and issubclass(kind, Enum)
      for choice in kind),
]  # fmt: skip
VALID += [TABLE.game.hand, TABLE.game.count, engine.history(TABLE.state)[-1].entry, engine.House(), engine.Outlook()]
VALID += [engine.Holding.of(tiles("6-4")), engine.HandResult(Seat(0), (1, 2)), engine.play_record(RECORD).opening]
VALID += [
    engine.play_record(RECORD).result,
    engine.play_record(RECORD).lines,
    engine.play_record(RECORD).lines[0].place,
]
VALID += [engine.problem_with(TABLE.state, Play(Seat(0), Tile(0, 0))), [engine.Holding.of(tiles("6-4"))] * 2, Seat(0)]
VALID += [TABLE.state.log, TABLE.state.steps]
VALID += [ALLFIVES.hand_points, (engine.Mark.EMPTY,) * 4, ClaimKind.KNOCKED, NO_COURSE]
WRONG: list[object] = [
    "6-6",
    5,
    None,
    2.5,
    object(),
    [1],
    ("a",),
    {1: 2},
    VIEW,
    TABLE,
    TABLE.state,
    Tile(5, 6),
    "two words",
]


def public_calls() -> Iterator[tuple[str, Callable[..., Any], dict[str, Any]]]:
    """Yield each public function, constructor and method with the types of its parameters."""
    for name in engine.__all__:
        thing = getattr(engine, name)
        if inspect.isfunction(thing):
            yield name, thing, get_type_hints(thing)
        if not inspect.isclass(thing) or issubclass(thing, Enum | Exception):
            continue
        yield name, thing, get_type_hints(thing)
        for method in (one for one in vars(thing) if not one.startswith("_")):
            bound = getattr(thing, method)
            if inspect.ismethod(bound):
                yield f"{name}.{method}", bound, get_type_hints(bound)
            elif inspect.isfunction(bound) and (owner := next((one for one in VALID if type(one) is thing), None)):
                yield f"{name}.{method}", getattr(owner, method), get_type_hints(bound)


CALLS = {name: (call, hints) for name, call, hints in public_calls()}


def parameters(call: Callable[..., Any], hints: dict[str, Any]) -> dict[str, Any]:
    """Return the types of the parameters that a call must or may have."""
    return {name: hints[name] for name in inspect.signature(call).parameters if name in hints}


def test_nearly_all_public_names_are_called() -> None:
    assert len(CALLS) > 150
    assert {"best_plays", "Tile", "Tile.of", "Tile.parse", "Table.start", "Table.deal", "Play", "Layout.end_at"} <= set(
        CALLS
    )


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_type_is_an_engine_error(name: str) -> None:
    call, hints = CALLS[name]
    wanted = parameters(call, hints)
    valid = {at: next(one for one in VALID if has_type(one, hint)) for at, hint in wanted.items()}
    for at, hint in wanted.items():
        for wrong in WRONG:
            if has_type(wrong, hint):
                continue
            try:
                call(**{**valid, at: wrong})
            except EngineError:
                pass
            except (AssertionError, AttributeError, LookupError, TypeError, ValueError) as error:
                pytest.fail(f"{name}({at}={wrong!r:.60}) raised {error!r}")


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_an_event_rejects_each_field_of_a_wrong_type(kind: type) -> None:
    wanted = parameters(kind, get_type_hints(kind))
    valid = {at: next(one for one in VALID if has_type(one, hint)) for at, hint in wanted.items()}
    for at, hint in wanted.items():
        for wrong in WRONG:
            if not has_type(wrong, hint):
                with pytest.raises(EngineError, match=f"^{kind.__name__}: {at} must be "):
                    kind(**{**valid, at: wrong})


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: Tile.of("6", "6"), "low must be int, but got '6'"),  # type: ignore[arg-type]
        (lambda: Tile.parse(5), "text must be str, but got 5"),  # type: ignore[arg-type]
        (lambda: Play(0, "6-6"), "Play: tile must be Tile, but got '6-6'"),  # type: ignore[arg-type]
        (lambda: NewHand(dealt=5), r"dealt must be tuple\[int, \.\.\.\] \| None, but got 5"),  # type: ignore[arg-type]
        (lambda: NewHand(("a",)), r"dealt must be tuple\[int, \.\.\.\] \| None, but got \('a',\)"),  # type: ignore[arg-type]
        (lambda: Reveal(Seat(0), "5-5"), r"tiles must be tuple\[Tile, \.\.\.\], but got '5-5'"),  # type: ignore[arg-type]
        (lambda: best_plays(VIEW, VIEW.tiles), r"state must be State, but got SeatView\(seat=0"),  # type: ignore[arg-type]
        (lambda: best_plays(TABLE.state, "6-6"), r"tiles must be Iterable\[Tile\], but got '6-6'"),  # type: ignore[arg-type]
        (lambda: apply(TABLE.state, "k"), "apply: event must be MatchStart"),  # type: ignore[arg-type]
        (lambda: engine.Record(("DGR",)), r"tags must be tuple\[Tag, \.\.\.\], but got \('DGR',\)"),  # type: ignore[arg-type]
        (lambda: TABLE.deal_these([1]), r"hands must be Sequence\[.*Sequence\[Tile\]\], but got \[1\]"),  # type: ignore[list-item]
    ],
)
def test_the_message_names_the_argument(call: Callable[[], object], text: str) -> None:
    with pytest.raises(EngineError, match=text):
        call()


def test_fields_and_a_long_match_are_checked() -> None:
    fields = mock.patch.object(errors, "_fields_of", side_effect=AssertionError("fields of the state were checked"))
    with fields, pytest.raises(EngineError, match="event must be"):
        apply(TABLE.state, "k")  # type: ignore[arg-type]
    with pytest.raises(EngineError, match="state must be State, but got State"):
        apply(engine.State(game="bones"), Draw(Seat(0)))  # type: ignore[arg-type]

    class Index(int):
        pass

    assert len(Reveal(Seat(0), [Tile(5, 5)]).tiles) == 1  # type: ignore[arg-type]
    assert Draw(Seat(Index(1)), Index(2)) == Draw(Seat(1), 2)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'event'"):
        apply(TABLE.state)  # type: ignore[call-arg]
