"""Tests of learning tiles from the corrections of a match: undoing, contradictions, storing, and replay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import cv2
import pytest

import vision.reader.reader
from engine import Adjust, Amend, Lead, NewHand, NodeId, Play, Seat, Seq, Tile
from tallybone.calibrate.tile_set import forget_tile
from tallybone.choices import TileSet
from tallybone.play.game import LiveGame
from tallybone.play.learning import NamedTile, Teaching, named_tiles
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import Used, new_game, recorder_of, sitting_of, with_own_tiles
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tallybone.replay.run import ReplaySettings, opened_replay
from tallybone.session.course import reversal_events
from tallybone.session.feeding import feed
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Step
from tallybone.sources.source import Shot
from tallybone.store.learned_file import load_tiles, tiles_path
from tests.tallybone.calibrate.test_lens_and_table import captured_output
from tests.tallybone.play.test_game import Script
from tests.tallybone.session.test_session_inputs import led
from tests.vision.confused import confused_reader
from tests.vision.tables import lay, table_with
from vision.reader.reader import Reader

MS = 1_000_000
LAID, MORE = lay(5, 3, 0, 0, 20), (lay(6, 2, 120, 60, 80), lay(1, 4, -130, -70, 10))


@pytest.fixture(scope="module")
def reader() -> Reader:
    return confused_reader()


class Table(Script):
    """A match at a table that shows rendered pictures."""

    def __init__(self, folder: Path, reader: Reader, recordings: Path | None = None) -> None:
        super().__init__()
        plan = new_game(
            "bones", (), ("Ann", "Ben"), tile_set=TileSet.AUTO, in_play=False,
            began=datetime(2026, 11, 26, tzinfo=UTC), software="test",
        )  # fmt: skip
        self.path = tiles_path(folder / "usb-0.json", 6)
        self.plan, self.reader, self.start_words = with_own_tiles(plan, Used(None, ()), reader, self.path)
        sitting, _ = sitting_of(self.plan, self.reader, t_ns=0)
        self.recordings = recordings or folder / "sessions"
        recorder = recorder_of(self.plan, RecordingQuota(self.recordings, 1 << 30), self.note, t_ns=0)
        teaching = Teaching(self.path, self.reader, self.plan.start.own_set, None, sitting.session)
        self.recorder = recorder
        self.game = LiveGame(self, sitting, recorder, self, clock=lambda: 0, max_per_s=10, teaching=teaching)

    def see(self, *tiles: object) -> Table:
        """Show the tiles until the picture is settled and read."""
        image = table_with(tiles).image  # type: ignore[arg-type]  # tiles of `lay`
        jpeg = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()
        for _ in range(15):
            self.at_ns += 100 * MS
            self.given.append(Shot(self.at_ns, "", "camera", lambda: image, lambda: jpeg))
            self.game.look()
        return self

    def enter(self, *items: ByHand) -> Table:
        for item in items:
            self.at_ns += MS
            self.game.feed(item, self.at_ns)
        return self

    def frame(self, t_ns: int, jpeg: bytes, name: str | None) -> None:
        pass

    @property
    def tiles(self) -> list[tuple[int, ...]]:
        """Numbers of the tiles as read, the larger first."""
        view = self.game.now.view
        assert view is not None
        return sorted(tuple(sorted((half.pips for half in tile.halves), reverse=True)) for tile in view.tiles)

    @property
    def lead(self) -> Seq:
        return next(Seq(at) for at, event in enumerate(self.game.session.state.log) if isinstance(event, Play))


def correct(table: Table, tile: Tile) -> Table:
    return table.enter(Amend(table.lead, Play(Seat(0), tile, None, tile.high)))


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory, reader: Reader) -> Table:
    """Return a table on which a tile was corrected and then others were laid out."""
    table = Table(tmp_path_factory.mktemp("taught"), reader).see().enter(NewHand(), Lead(Seat(0))).see(LAID)
    assert table.tiles == [(6, 3)]
    correct(table, Tile.of(5, 3))
    table.see(LAID)
    assert table.tiles == [(5, 3)]
    table.see(LAID, *MORE)
    return table


def test_a_correction_is_applied_at_once(taught: Table) -> None:
    assert "Learned how the 5-3 looks." in taught.notes
    assert taught.tiles == [(4, 1), (5, 3), (6, 2)]


def test_a_correction_survives_a_restart(taught: Table, reader: Reader, tmp_path: Path) -> None:
    table = (
        Table(taught.path.parent, reader, tmp_path).see().enter(NewHand(), Lead(Seat(0))).see(lay(3, 5, 60, -40, 200))
    )
    assert table.tiles == [(5, 3)]
    assert table.start_words == ("Learned from corrections of tiles: 1.",)


def test_a_replay_and_a_resumed_match_know_what_was_learned(
    taught: Table, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught.recorder.close()
    (recording,) = taught.recordings.glob("*.mcap")
    monkeypatch.setattr(vision.reader.reader, "load_reader", lambda _: reader)
    complaints = list[str]()
    with opened_replay(recording, ReplaySettings(), complaints.append) as replayed:
        steps = [step.effects for step in replayed.steps if step.effects is not None]
    assert complaints == []
    assert steps[-1].session == taught.game.session
    left = left_in(read_recording(recording)).start.own_set
    assert left is not None
    assert left.exemplars == load_tiles(taught.path).exemplars != ""


@pytest.fixture
def corrected(tmp_path: Path, reader: Reader) -> Table:
    table = Table(tmp_path, reader).see().enter(NewHand(), Lead(Seat(0))).see(LAID)
    correct(table, Tile.of(5, 3)).see(LAID)
    assert load_tiles(table.path).exemplars != ""
    return table


def test_undoing_the_correction_forgets_the_tile(corrected: Table) -> None:
    state = corrected.game.session.state
    corrected.enter(*reversal_events(state, len(state.log) - 1)).see(LAID)
    assert corrected.notes[-1] == "Forgot how the 5-3 looks."
    assert load_tiles(corrected.path).exemplars == ""
    assert corrected.tiles == [(6, 3)]


def test_a_tile_that_is_named_twice_differently_is_not_learned(corrected: Table) -> None:
    correct(corrected, Tile.of(4, 3)).see(LAID)
    assert load_tiles(corrected.path).exemplars == ""
    correct(corrected, Tile.of(5, 3)).see(LAID)
    assert load_tiles(corrected.path).exemplars == ""


def test_one_command_forgets_the_last_tile(corrected: Table) -> None:
    output, _, _ = captured_output()
    assert forget_tile(corrected.path.with_name("usb-0.json"), output=output) == 0
    assert load_tiles(corrected.path).tiles == ()
    assert forget_tile(corrected.path.with_name("usb-0.json"), output=output) == 0
    corrected.enter(NewHand()).see(LAID)
    assert corrected.tiles == [(6, 3)]


def test_corrections_of_scores_and_placements_teach_nothing(corrected: Table) -> None:
    before = load_tiles(corrected.path)
    corrected.enter(Adjust(Seat(0), 5, "by hand"), Amend(corrected.lead, Play(Seat(1), Tile.of(5, 3), None, 3)))
    assert load_tiles(corrected.path) == before


def test_corrections_name_tiles_and_others_do_not() -> None:
    session = led()
    seq = len(session.state.log) - 1
    play = session.state.log[seq]
    assert isinstance(play, Play)
    named = list(after(session, Amend(Seq(seq), replace(play, tile=Tile.of(6, 3), inner=6))))
    assert [(tile.key, tile.tile, tile.read, tile.pips) for tile in named] == [
        (NodeId(seq), Tile.of(6, 3), (3, 5), (3, 6))
    ]
    assert not list(after(session, Amend(Seq(seq), replace(play, seat=Seat(1)))))
    assert not list(after(session, Adjust(Seat(0), 5, "by hand")))


def after(session: Session, item: ByHand) -> Iterator[NamedTile]:
    """Return the tiles that an input names."""
    now, _ = feed(session, item)
    return named_tiles(session, Step(now.t_ns, now, (), now.state.log[len(session.state.log) :], None, item))
