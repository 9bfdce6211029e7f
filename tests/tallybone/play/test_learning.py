"""Tests of learning knocks and tiles from a match: corrections, contradictions, storing, and replay."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

import vision.reader.reader
from calibration.knock import TableExamples
from engine import BONES, Adjust, Amend, Drawing, Knock, Lead, NewHand, NodeId, Play, Remove, Seat, Seq, Tile, entries
from hardware.knock.classifier import Classifier, load_classifier
from hardware.knock.detector import KnockDetector
from hardware.knock.sensor import LEARNABLE, NS_PER_S, ClassifiedSound, Sound
from lab.sounds.devices import apply_response, tilted
from tallybone.calibrate.knock import forget_knocks
from tallybone.calibrate.stored import show
from tallybone.calibrate.tile_set import forget_tile
from tallybone.choices import TileSet
from tallybone.play.game import LiveGame
from tallybone.play.learning import Learning, MatchSounds, NamedTile, Teaching, examples_of, named_tiles
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import Used, new_game, recorder_of, sitting_of, with_own_tiles
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tallybone.replay.run import ReplaySettings, opened_replay
from tallybone.session.course import reversal_events
from tallybone.session.feeding import feed
from tallybone.session.inputs import Answer, AnswerBack, Button, KnockHeard, Press
from tallybone.session.session import Session
from tallybone.session.sitting import ByHand, Step
from tallybone.sources.source import Shot
from tallybone.store import learned_file
from tallybone.store.calibration_file import CalibrationFileError, save_calibration
from tallybone.store.learned_file import load_tiles, tiles_path
from tests.calibration.test_knock import sounds_of
from tests.hardware.knock.sounds import block, with_hits
from tests.tallybone.calibrate.test_lens_and_table import captured_output
from tests.tallybone.play.test_game import Script
from tests.tallybone.session.test_referee import seen
from tests.tallybone.session.test_session_inputs import NOTHING_NEW, led
from tests.tallybone.store.test_calibration_file import BOTH
from tests.tallybone.truth_eye import placed
from tests.vision.confused import confused_reader
from tests.vision.tables import lay, table_with
from vision.reader.reader import Reader
from vision.tracking.table_view import TableView

SHIPPED = load_classifier()
PRESS = Press(Button.KNOCK)
NEXT_LAID = placed(seen((5, 4), (2, 0)), before=NOTHING_NEW.tiles)
BOTH_LAID = placed(seen((4, 1), (4, 0)), before=NEXT_LAID.tiles)


class Match:
    """A match whose sounds are observed. Sounds have numbers instead of embeddings."""

    def __init__(self, session: Session) -> None:
        self.session, self.seen = session, MatchSounds.of(session)
        self._shown = NOTHING_NEW

    def feed(self, item: TableView | ByHand, at_s: float) -> Match:
        """Feed an input. Until then, the camera watches the table."""
        t_ns = int(at_s * NS_PER_S)
        for at_ns in range(self.session.t_ns + NS_PER_S, t_ns, NS_PER_S):
            self._step(self._shown, at_ns)
        self._step(item, t_ns)
        if isinstance(item, TableView):
            self._shown = replace(item, changes=())
        return self

    def hear(self, number: int, at_s: float, hit: float) -> Match:
        kind, in_row = (Sound.KNOCK, 1) if hit >= 0.5 else (Sound.TILE, 0)
        t_ns = int(at_s * NS_PER_S)
        sound = ClassifiedSound(t_ns, None, 0.5, max(hit, 0.3), kind, in_row, hit, (float(number),))
        self.seen = self.seen.heard(sound, t_ns)
        return self.feed(KnockHeard(None, 0.5, hit), at_s) if sound.may_be_pass else self

    def _step(self, item: TableView | ByHand, t_ns: int) -> None:
        length = len(self.session.state.log)
        self.session, said = feed(self.session, item, t_ns=t_ns)
        view, by_hand = (item, None) if isinstance(item, TableView) else (None, item)
        self.seen = self.seen.after(Step(t_ns, self.session, said, self.session.state.log[length:], view, by_hand))

    @property
    def learned(self) -> tuple[list[int], list[int]]:
        """Numbers of the sounds that are known to be passes, and to be others."""
        found = examples_of(self.seen, "any")
        return [int(row[0]) for row in found.knocks], [int(row[0]) for row in found.others]


def match(seats: int = 2) -> Match:
    """Return a match after a lead by Ann, one second after its start."""
    return Match(led(seats=seats))


def answer(match: Match, text: str, at_s: float) -> Match:
    assert match.session.open_question is not None
    return match.feed(Answer(match.session.open_question.choices.index(text)), at_s)


def test_a_heard_pass_is_learned_once_play_has_gone_on() -> None:
    own = match().hear(1, 10, 0.8).feed(NOTHING_NEW, 13)
    assert own.learned == ([], [])
    own.feed(NEXT_LAID, 20)
    assert own.learned == ([], [])
    own.feed(BOTH_LAID, 30)
    assert own.learned == ([1], [])


@pytest.mark.parametrize("after_s", [-2.5, 0.5, 2.5])
def test_a_faint_sound_near_an_entered_pass_is_learned_at_once(after_s: float) -> None:
    own = match()
    if after_s < 0:
        own.feed(PRESS, 10 + after_s)
    own.hear(1, 10, 0.15)
    own.feed(PRESS, 10 + after_s) if after_s > 0 else own.feed(NOTHING_NEW, 12)
    assert own.learned == ([1], [])


def test_sounds_too_faint_far_or_those_of_tiles_are_not_learned_as_passes() -> None:
    assert match().hear(1, 10, 0.05).hear(2, 14, 0.15).feed(PRESS, 18).learned == ([], [])
    own = match().hear(1, 8.8, 0.15).feed(NEXT_LAID, 10).feed(PRESS, 10.5)
    assert own.learned == ([], [])


def test_a_pass_that_is_taken_back_is_not_learned() -> None:
    undone = match().hear(1, 10, 0.15).feed(PRESS, 11).feed(Press(Button.UNDO), 15)
    assert undone.learned == ([], [])
    heard = match().hear(1, 10, 0.8).feed(NOTHING_NEW, 13).feed(NEXT_LAID, 20).feed(BOTH_LAID, 30)
    passed = next(entry for entry in entries(heard.session.state) if isinstance(entry.action, Knock))
    assert heard.learned == ([1], [])
    assert heard.feed(Remove(passed.seq), 35).learned[0] == []


def test_the_sound_of_a_tile_but_not_a_knock_before_it_is_learned_once_play_has_gone_on() -> None:
    own = match().hear(1, 9, 0.3).feed(NEXT_LAID, 10)
    assert own.learned == ([], [])
    assert own.feed(BOTH_LAID, 20).learned == ([], [])
    assert own.feed(PRESS, 30).learned == ([], [1])
    own = match().hear(1, 10, 0.8).hear(2, 11.5, 0.3).feed(NEXT_LAID, 12).feed(BOTH_LAID, 20).feed(PRESS, 30)
    assert own.feed(PRESS, 40).learned[1] == []


SCORING = seen((5, 2), (2, 0))
"""A tile that scores 5 points for Ben, or for Cleo if Ben has passed before."""
SCORED = placed(SCORING, before=NOTHING_NEW.tiles)
AGAIN = TableView(SCORED.tiles, (), ())


def doubted() -> Match:
    """Return a match in which the totals depend on whether a sound was a pass by Ben."""
    own = Match(led(replace(BONES, draw=Drawing.NONE), seats=3)).hear(1, 10, 0.4).feed(NOTHING_NEW, 13)
    return own.feed(SCORED, 20).feed(AGAIN, 23).feed(AGAIN, 26).feed(AGAIN, 29)


def test_a_pass_denied_by_an_answer_is_learned_as_another_sound() -> None:
    own = doubted()
    assert own.learned == ([], [])
    answer(own, "Ben 5, Cleo 0, if Ben played the 5-2", 30)
    assert own.learned == ([], [1])
    assert own.session.answered is not None
    own.feed(AnswerBack(own.session.answered.log), 32)
    assert own.learned == ([], [])


def test_a_doubtful_pass_is_learned_if_an_answer_confirms_it() -> None:
    further = [placed(seen((2, 6), (4, 0)), before=SCORED.tiles)]
    further.append(placed(seen((6, 0), (6, 0)), before=further[0].tiles))
    for is_answered in (False, True):
        own = doubted()
        if is_answered:
            answer(own, "Ben 0, Cleo 5, if Ben passed and Cleo played the 5-2", 30)
        own.feed(further[0], 40).feed(further[1], 50)
        assert own.learned[0] == ([1] if is_answered else [])


def test_sensors_without_sound_teach_nothing() -> None:
    own = match()
    own.seen = own.seen.heard(ClassifiedSound(10 * NS_PER_S, None, 0.5, 0.5), 10 * NS_PER_S)
    assert own.feed(KnockHeard(), 10).feed(PRESS, 11).learned == ([], [])
    assert own.seen.sounds == ()


def rounded_embedding(sound: ClassifiedSound) -> tuple[float, ...]:
    return tuple(float(f"{value:.4g}") for value in sound.embedding or ())


KNOCKS = tuple(map(rounded_embedding, sounds_of(8, 0.4, like=1)))


def with_a_pass(path: Path, used: list[Classifier], embedding: tuple[float, ...] = KNOCKS[0]) -> Learning:
    """Return the learning of a table after a match of one pass, which was entered just after this sound."""
    learning = Learning(learned_file.load_table_knocks(path), led(), used.append)
    learning.heard(ClassifiedSound(2 * NS_PER_S, None, 0.5, 0.5, Sound.TILE, 0, 0.2, embedding), 2 * NS_PER_S)
    before, _ = feed(led(), NOTHING_NEW, t_ns=2 * NS_PER_S)
    session, said = feed(before, PRESS, t_ns=3 * NS_PER_S)
    learning.after(Step(3 * NS_PER_S, session, said, session.state.log[-1:], None, PRESS))
    return learning


def bright_sounds(kind: Sound, count: int, seed: int, tilt_db: float) -> list[ClassifiedSound]:
    """Return modelled sounds on one table as a microphone with this spectral tilt hears them."""
    times_s = tuple(1.0 + 1.5 * at for at in range(count))
    samples = apply_response(with_hits(kind, times_s, seed=seed), tilted(tilt_db))
    heard = KnockDetector().feed(block(np.append(samples, np.zeros(16_000)).astype(np.float32)))
    return [sound for sound in heard if min(abs(sound.t_ns / NS_PER_S - t_s) for t_s in times_s) < 0.1]


def rows_of(sounds: list[ClassifiedSound]) -> tuple[tuple[float, ...], ...]:
    return tuple(sound.embedding for sound in sounds if sound.embedding is not None)


def chances(classifier: Classifier, sounds: list[ClassifiedSound]) -> NDArray[np.float32]:
    """Return the knock probability of each sound."""
    return classifier.probabilities(np.array(rows_of(sounds), np.float32))[:, 0]


@pytest.mark.parametrize(
    ("tilt_db", "seeds"),
    [pytest.param(9.0, 2, marks=pytest.mark.slow), (-6.0, 1)],
)
def test_a_strange_microphone_hears_more_after_ten_passes(tmp_path: Path, tilt_db: float, seeds: int) -> None:
    counts, judged = np.zeros((2, 2), int), 0
    for seed in range(seeds):
        knocks = bright_sounds(Sound.KNOCK, 20, seed, tilt_db)
        tiles = bright_sounds(Sound.TILE, 20, seed, tilt_db)
        path = tmp_path / f"{seed}.json"
        used = list[Classifier]()
        for embedding in rows_of(knocks[:10]):
            with_a_pass(path, used, embedding).learn()
        learned = learned_file.load_table_knocks(path).learned
        assert len(learned.knocks) == 10
        # From then on, the table also learns the tiles that sound like its knocks.
        is_alike = chances(learned_file.load_table_knocks(path).classifier(), tiles[:10]) >= LEARNABLE
        others = tuple(row for row, is_one in zip(rows_of(tiles[:10]), is_alike, strict=True) if is_one)
        learned_file.save_learned(learned_file.learned_path(path), replace(learned, others=others))
        judged += len(knocks[10:])
        for column, classifier in enumerate((SHIPPED, learned_file.load_table_knocks(path).classifier())):
            for row, sounds in enumerate((knocks[10:], tiles[10:])):
                counts[row, column] += np.count_nonzero(chances(classifier, sounds) >= classifier.min_knock)
    knocks_heard, tiles_passed = counts
    assert knocks_heard[1] > knocks_heard[0] or knocks_heard[0] >= 0.95 * judged
    assert knocks_heard[1] >= 0.9 * judged
    assert tiles_passed[1] <= tiles_passed[0] + 1, counts


def test_examples_are_stored_newest_first_and_limited(tmp_path: Path) -> None:
    new, old = (TableExamples("a", tuple((float(at),) for at in range(first, first + 40))) for first in (0, 30))
    both = learned_file.merge_learned(new, old)
    assert both.knocks == tuple((float(at),) for at in range(learned_file.MAX_KNOCKS))
    assert learned_file.merge_learned(new, TableExamples("b", ((1.5,),))) == new
    stored = TableExamples(SHIPPED.name, KNOCKS[:1], KNOCKS[1:2])
    path = learned_file.learned_path(tmp_path / "table.json")
    learned_file.save_learned(path, stored)
    assert learned_file.load_learned(path, SHIPPED) == stored
    assert json.loads(path.read_text())["version"] == 1


def test_damaged_or_foreign_examples_are_not_used(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    for text in ("", "[]", '{"version": 2}', '{"version": 1, "learned": {"model": 3}}', "\x00"):
        learned_file.learned_path(path).write_text(text)
        known = learned_file.load_table_knocks(path)
        (problem,) = known.problems
        assert "learned about knocks is not used" in problem
        assert known.classifier().correction is None
    unknown = (float("nan"),) * len(KNOCKS[0])
    for model, row in (("another", KNOCKS[0]), (SHIPPED.name, (1.0, 2.0)), (SHIPPED.name, unknown)):
        learned_file.save_learned(learned_file.learned_path(path), TableExamples(model, (row,)))
        with pytest.raises(CalibrationFileError):
            learned_file.load_learned(learned_file.learned_path(path), SHIPPED)
        assert learned_file.load_table_knocks(path).learned == TableExamples(SHIPPED.name)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return the calibration of a table that has learned seven knocks."""
    path = tmp_path / "table.json"
    save_calibration(BOTH, path)
    learned_file.save_learned(learned_file.learned_path(path), TableExamples(SHIPPED.name, KNOCKS[1:]))
    return path


def test_a_new_hand_stores_and_uses_what_was_learned(table: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    used = list[Classifier]()
    own = with_a_pass(table, used)
    assert used == []
    for _ in range(2):
        own.after(Step(12 * NS_PER_S, own.seen.session, (), (NewHand(),)))
    assert len(used) == 1
    assert used[0].correction is not None
    assert learned_file.load_table_knocks(table).learned.knocks == KNOCKS
    assert "passes=8" in caplog.text


def test_what_was_learned_is_shown_and_can_be_deleted_during_a_match(table: Path) -> None:
    used = list[Classifier]()
    own = with_a_pass(table, used)
    own.learn()
    output, out, _ = captured_output()
    assert show(table, output=output) == 0
    assert "Learned at this table: passes 8, tiles 0." in out.getvalue()
    assert forget_knocks(table, output=captured_output()[0]) == 0
    own.learn()
    assert used[-1].correction is None
    assert not learned_file.learned_path(table).exists()
    output, out, _ = captured_output()
    assert forget_knocks(table, output=output) == 0
    assert "No knocks were learned" in out.getvalue()


def test_examples_that_would_do_harm_are_not_used(table: Path, caplog: pytest.LogCaptureFixture) -> None:
    # Sounds like the uncertain knocks are stored as others.
    sure, same = (tuple(map(rounded_embedding, sounds_of(24, knock, like=1))) for knock in (0.7, 0.4))
    before = TableExamples(SHIPPED.name, (*sure[:6], *KNOCKS[1:3]), same)
    learned_file.save_learned(learned_file.learned_path(table), before)
    used = list[Classifier]()
    with_a_pass(table, used).learn()
    assert used == []
    assert learned_file.load_table_knocks(table).learned == replace(before, knocks=(KNOCKS[0], *before.knocks))
    assert learned_file.load_table_knocks(table).classifier().correction is None
    assert "would be detected worse" in caplog.text


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
    table = Table(taught.path.parent, reader, tmp_path).see().enter(NewHand(), Lead(Seat(0)))
    table.see(lay(3, 5, 60, -40, 200))
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


def test_corrections_of_scores_teach_nothing_and_one_command_forgets_the_last_tile(corrected: Table) -> None:
    before = load_tiles(corrected.path)
    corrected.enter(Adjust(Seat(0), 5, "by hand"), Amend(corrected.lead, Play(Seat(1), Tile.of(5, 3), None, 3)))
    assert load_tiles(corrected.path) == before
    output, _, _ = captured_output()
    assert forget_tile(corrected.path.with_name("usb-0.json"), output=output) == 0
    assert load_tiles(corrected.path).tiles == ()
    assert forget_tile(corrected.path.with_name("usb-0.json"), output=output) == 0
    corrected.enter(NewHand()).see(LAID)
    assert corrected.tiles == [(6, 3)]


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
    now, _ = feed(session, item)
    return named_tiles(session, Step(now.t_ns, now, (), now.state.log[len(session.state.log) :], None, item))
