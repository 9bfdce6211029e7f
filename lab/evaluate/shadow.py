"""Run `tallybone shadow`: compare the hands of a live score with a score sheet written by a person."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product, zip_longest
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

import engine
from engine import EngineError, MatchStart
from engine.game.closing import name_key
from engine.record.play import play_record
from engine.record.text import parse_record
from lab.matches.judged_hands import (
    NO_HAND,
    HandJudged,
    HandScored,
    JudgedTile,
    hand_scored,
    judge_hand,
    true_hands,
    wrong_plays_in,
)
from tallybone.json_values import JsonValueError
from tallybone.recording.format import Damage, RecordingError, Topic
from tallybone.recording.index import records_on
from tallybone.recording.reader import input_of
from tallybone.replay.recorded_game import logged_steps
from tallybone.session.inputs import Answer, AnswerBack
from tallybone.session.session import Session
from tallybone.session.sitting import Step
from tallybone.sources.source import GameOverrides
from tallybone.terminal import Output, printable
from vision import VisionError
from vision.reader.custom_set import RecordedSet


def print_table(console: Console, title: str, table: Table) -> None:
    """Print a title, a table and an empty line."""
    console.print(title, style="bold")
    console.print(table)
    console.print()


@dataclass(slots=True)
class FollowedHands:
    """The hands of a score that is followed.

    Attributes:
        closed: Each completed hand, whether it was flagged at its end, and the time of its end.
        session: The session after the last step.
    """

    closed: list[tuple[HandScored, bool, int]] = field(default_factory=list)
    session: Session = field(default_factory=Session)
    t_ns: int = 0
    _is_dealt: bool = False
    _totals: tuple[int, ...] = ()

    def follow(self, effects: Step, t_ns: int) -> None:
        """Follow a step of the score. A hand is complete when the next one is dealt."""
        self.t_ns = t_ns
        log = effects.session.state.log
        for at, event in enumerate(effects.events, start=len(log) - len(effects.events)):
            if isinstance(event, engine.NewHand):
                self.leave_hand(engine.replay(log[:at]))
                self._is_dealt = True
        self.session = effects.session

    def leave_hand(self, state: engine.State) -> None:
        """Complete the current hand, if any was dealt. *state* is the match at the end of the hand."""
        if self._is_dealt:
            self.closed.append((hand_scored(state, self._totals), _is_flagged(self.session), self.t_ns))
            self._totals = () if state.game is None else state.game.totals

    def paired_with(
        self, truth: Sequence[HandScored]
    ) -> Iterator[tuple[HandScored | None, HandScored | None, bool, int]]:
        """Yield each true hand with its scored hand, whether that was flagged, and the time of its end."""
        for true, closed in zip_longest(truth, self.closed):
            yield (true, *(closed or (None, False, self.t_ns)))


def _is_flagged(session: Session) -> bool:
    """Return True if there is an open question, or an irregular or inferred action since the last deal."""
    if session.questions:
        return True
    dealt = [entry.seq for entry in engine.entries(session.state) if isinstance(entry.action, engine.NewHand)]
    doubtful = (*session.state.irregular, *session.state.inferred)
    return any(seq >= dealt[-1] for seq in doubtful) if dealt else bool(doubtful)


# Two-sided 95 % quantile of the normal distribution.
_Z = 1.959964
_SWAPPED = {"W": "E", "E": "W", "N": "S", "S": "N"}


class SheetMismatchError(RecordingError):
    """A score sheet does not belong to the match of a recording."""


@dataclass(frozen=True, slots=True)
class Shadow:
    """A live score, compared with its sheet.

    Attributes:
        hands: Comparison of each hand. A hand's score is final when the next hand is dealt.
        true_totals, seen_totals: Totals on the sheet and scored totals at the end, by seat.
        corrections: Number of inputs by people other than answers and withdrawals of answers.
    """

    path: Path
    match: MatchStart
    hands: tuple[HandJudged, ...]
    true_totals: tuple[int, ...]
    seen_totals: tuple[int, ...]
    asked: int
    answered: int
    corrections: int

    @property
    def provisional(self) -> int:
        """Number of hands with an irregular or inferred action."""
        return sum(hand.is_flagged for hand in self.hands)

    @property
    def silent(self) -> int:
        """Number of hands that are wrong without an irregular or inferred action."""
        return sum(not _is_right(hand) and not hand.is_flagged for hand in self.hands)

    @property
    def shares(self) -> Mapping[str, tuple[int, int]]:
        """Count and total of each compared property, by its name. Spare tiles count as wrong plays."""
        plays = [play for hand in self.hands for play in hand.plays]
        count, hands = len(plays) + sum(len(hand.spare) for hand in self.hands), len(self.hands)
        return {
            "plays wholly right": (sum(play.is_wholly_right for play in plays), count),
            "tiles right": (sum(play.is_tile_right for play in plays), count),
            "places right": (sum(play.is_place_right for play in plays), count),
            "seats right": (sum(play.is_seat_right for play in plays), count),
            "points right": (sum(play.are_points_right for play in plays), count),
            "hands with the right totals": (sum(hand.are_totals_right for hand in self.hands), hands),
            "provisional hands": (self.provisional, hands),
            "silently wrong hands": (self.silent, hands),
        }


def wilson(count: float, total: int) -> tuple[float, float]:
    """Return the Wilson score interval of a share at 95 % confidence. (0, 1) if *total* is 0.

    >>> [round(bound, 3) for bound in wilson(0, 20)], [round(bound, 3) for bound in wilson(19, 20)]
    ([0.0, 0.161], [0.764, 0.991])
    """
    if not total:
        return 0.0, 1.0
    share, spread = count / total, _Z * _Z / total
    centre = share + spread / 2
    half = _Z * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return max(0.0, (centre - half) / (1 + spread)), min(1.0, (centre + half) / (1 + spread))


def compare_with_sheet(
    recordings: Sequence[Path],
    sheet: Path,
    *,
    as_json: bool = False,
    out: TextIO | None = None,
    err: TextIO | None = None,
) -> int:
    """Print a comparison of a live score with a score sheet written by a person.

    Args:
        recordings: Recordings of the match, in order. A resumed match has several.
        as_json: Print a JSON object instead of tables.
        out: Stream for figures. None for stdout.
        err: Stream for errors. None for stderr.

    Returns:
        Exit code: 0, or 1 if anything could not be read or compared.
    """
    output = Output.of("shadow", out, err)
    try:
        shadow = shadow_of(recordings, sheet, output.complain)
    except (EngineError, VisionError, OSError, UnicodeDecodeError) as error:
        return output.complain(error)
    if as_json:
        output.write(json.dumps(_as_json(shadow), allow_nan=False))
    else:
        table = Table("", "count", "of", "%", "95 % interval", box=None, pad_edge=False)
        for column in table.columns[1:]:
            column.justify = "right"
        for name, (count, total) in shadow.shares.items():
            low, high = wilson(count, total)
            share = f"{100 * count / total:.1f}" if total else "-"
            table.add_row(name, str(count), str(total), share, f"{100 * low:.1f} to {100 * high:.1f}")
        print_table(output.console, "The live score compared with the sheet", table)
        totals = (" : ".join(map(str, points)) for points in (shadow.seen_totals, shadow.true_totals))
        output.write("Final totals: {}; on the sheet: {}".format(*totals))
        output.write(f"Questions: {shadow.asked}, answers: {shadow.answered}, corrections: {shadow.corrections}")
        for wrong in wrong_plays_in(shadow.hands):
            flag = "provisional" if wrong.is_flagged else "SILENT"
            output.console.print(Text(f"{printable(wrong.text)} ({flag})"), soft_wrap=True)
    return output.exit_code


def shadow_of(recordings: Sequence[Path], sheet: Path, complain: Callable[[str], object]) -> Shadow:
    """Compare the live score of a match with its score sheet.

    *recordings* are all recordings of the match, in order. The score is that of the last.

    Raises:
        EngineError: If the sheet is invalid, or its game does not exist.
        UnicodeDecodeError: If the sheet is not UTF-8.
        RecordingError: If a recording is invalid or has no score, or the sheet has other rules or players.
        OSError: If a file cannot be read.
    """
    log = play_record(parse_record(sheet.read_text(encoding="utf-8"))).log
    start = log[0]
    assert isinstance(start, MatchStart)
    # The last recording is enough: one that resumes a match starts with the log of the earlier ones.
    followed = FollowedHands()
    match: MatchStart | None = None
    for step in logged_steps(recordings[-1], GameOverrides(), complain):
        if step.effects is not None and match is None:
            [match] = [event for event in step.effects.events if isinstance(event, MatchStart)]
            _require_same(sheet, start, match)
        if step.effects is not None:
            followed.follow(step.effects, step.t_ns)
    if match is None:
        raise SheetMismatchError(f"{recordings[-1]}: expected a match, but it has no score")
    followed.leave_hand(followed.session.state)
    true_game, game = engine.replay(log).game, followed.session.state.game
    return Shadow(
        recordings[-1],
        match,
        tuple(_hands(tuple(true_hands(log)), followed)),
        () if true_game is None else true_game.totals,
        () if game is None else game.totals,
        *_count_inputs(recordings, complain),
    )


def _require_same(sheet: Path, start: MatchStart, match: MatchStart) -> None:
    """Check that a sheet and a recording have the same game and players."""
    # Different names are accepted, but not the same names in another order.
    if start.rules != match.rules:
        raise SheetMismatchError(
            f"{sheet}: expected the game {match.rules.name} with the options of the recording, got {start.rules.name}"
        )
    names, played = ([name_key(name) for name in players] for players in (start.players, match.players))
    if len(names) != len(played) or (sorted(names) == sorted(played) and names != played):
        raise SheetMismatchError(
            f"{sheet}: expected the players {', '.join(match.players)} in this order, got {', '.join(start.players)}"
        )


def _count_inputs(recordings: Sequence[Path], complain: Callable[[str], object]) -> tuple[int, int, int]:
    """Return the numbers of questions, of answers, and of corrections that people entered."""
    asked = answered = corrections = 0
    for path in recordings:
        for record in records_on(path, (Topic.OUTCOME, Topic.CORRECTION)):
            if isinstance(record, Damage):
                continue
            if record.topic is Topic.OUTCOME:
                asked += record.fact.get("event") == "unclear"
                continue
            try:
                value = input_of(record)
            except JsonValueError as error:
                complain(f"{path}: record {record.number}: {error}")
                continue
            answered += isinstance(value, Answer)
            corrections += not isinstance(value, Answer | AnswerBack | RecordedSet)
    return asked, answered, corrections


def _hands(truth: Sequence[HandScored], followed: FollowedHands) -> Iterator[HandJudged]:
    """Yield the comparison of each hand, with the sheet's hand in the orientation that has the most matching plays."""
    for at, (true, scored, is_flagged, t_ns) in enumerate(followed.paired_with(truth)):
        seen = scored
        if true is not None and not true.laid and scored is not None:  # a sheet with only the points of each hand
            seen = replace(scored, laid=(), over=None)
        candidates = (
            judge_hand(at + 1, oriented, seen, closed_ns=t_ns, is_flagged=is_flagged)
            for oriented in _orientations(true or NO_HAND)
        )
        yield max(candidates, key=lambda hand: sum(play.is_wholly_right for play in hand.plays))


def _orientations(hand: HandScored) -> Iterator[HandScored]:
    """Yield a hand in four variants, with W and E, and N and S, swapped or not."""
    # The writer may have sat on another side.
    for swaps_line, swaps_arms in product((False, True), repeat=2):
        laid = tuple(_swapped(tile, swaps_line=swaps_line, swaps_arms=swaps_arms) for tile in hand.laid)
        yield replace(hand, laid=laid)


def _swapped(tile: JudgedTile, *, swaps_line: bool, swaps_arms: bool) -> JudgedTile:
    if tile.host is None:
        is_turned = swaps_line and tile.inner is not None
        return replace(tile, inner=tile.tile.low + tile.tile.high - (tile.inner or 0)) if is_turned else tile
    # Only the first tile has two open ends. At other tiles, the port does not depend on the orientation.
    is_swapped = swaps_arms if tile.port in ("N", "S") else swaps_line and tile.host == 0
    return replace(tile, port=_SWAPPED.get(tile.port, tile.port)) if is_swapped else tile


def _is_right(hand: HandJudged) -> bool:
    plays = all(play.is_wholly_right for play in hand.plays)
    return plays and not hand.spare and hand.are_totals_right and hand.is_end_right


def _as_json(shadow: Shadow) -> dict[str, Any]:
    return {
        "file": shadow.path.name,
        "game": shadow.match.rules.name,
        "players": shadow.match.players,
        **{
            name.replace(" ", "_"): {"count": count, "total": total, "interval": wilson(count, total)}
            for name, (count, total) in shadow.shares.items()
        },
        "true_totals": shadow.true_totals,
        "totals": shadow.seen_totals,
        "questions": shadow.asked,
        "answers": shadow.answered,
        "corrections": shadow.corrections,
        "wrong": [
            {"t_ns": wrong.t_ns, "what": wrong.text, "flagged": wrong.is_flagged}
            for wrong in wrong_plays_in(shadow.hands)
        ],
    }
