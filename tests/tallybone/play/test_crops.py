"""Tests of the crops of a live game: one per play and question, with the tile outlined."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from engine import BONES, Amend, Event, Play, Seq, Stack, entries, profile
from engine.value import Trail, changed
from tallybone.play.recorder import MAX_CROP_BYTES, Cutter, RecordingQuota, crop
from tallybone.recording.format import Topic
from tallybone.recording.resume import Crops, Evidence, evidence_of
from tallybone.session.places import Waiting
from tallybone.session.questions import Ambiguity, Meaning, Question
from tallybone.session.sitting import Step, opened
from tests.tallybone.recording.sittings import records_of
from tests.tallybone.session.test_referee import line, seen
from tests.tallybone.truth_eye import PLAYERS, PLAYERS_OF
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.doubts import ASKED_AFTER, doubtful
from tests.tallybone.web.hand_photos import game_of
from tests.tallybone.web.true_table import TrueTable, file_recorder
from tests.vision.seen import seen_tile
from vision.arrays import Image
from vision.tracking.camera_motion import Alignment
from vision.tracking.table_view import TableView

TILE = seen_tile(5, 4, x_px=300.0, y_px=200.0, side_px=30.0, degrees=30.0)


def decoded(jpeg: bytes) -> Image:
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    return np.asarray(image, np.uint8)


def table_with(tile: tuple[tuple[float, float], ...]) -> Image:
    image = np.full((480, 640, 3), (50, 74, 28), np.uint8)
    cv2.fillPoly(image, [np.array(tile, np.int32)], (210, 229, 236))
    return image


def is_outlined(image: Image, centre: tuple[float, float]) -> bool:
    """Check that a yellow outline encloses the ivory tile at *centre*."""
    line = (image[..., 2] > 180) & (image[..., 0] < 150)
    filled = np.asarray(line, np.uint8).copy()
    x, y = (round(at) for at in centre)
    cv2.floodFill(filled, None, (x, y), (1,))
    return bool(image[y, x].min() > 190) and 0.02 < filled.mean() < 0.25


def test_a_crop_shows_the_outlined_tile_and_its_surroundings_also_of_a_moved_camera() -> None:
    moved = tuple((x + 80.0, y - 40.0) for x, y in TILE.corners_px)
    aim = Alignment((1.0, 0.0, 80.0, 0.0, 1.0, -40.0))
    jpegs = crop(table_with(TILE.corners_px), (TILE.corners_px,)), crop(table_with(moved), (TILE.corners_px,), aim)
    for jpeg in jpegs:
        assert jpeg is not None
        image = decoded(jpeg)
        height, width = image.shape[:2]
        assert 150 < width <= 320
        assert is_outlined(image, (width / 2, height / 2))
    beside = tuple((x + 380.0, y) for x, y in TILE.corners_px)
    assert crop(table_with(TILE.corners_px), (beside,)) is None, "outside the picture"


def test_the_size_of_a_crop_is_bounded() -> None:
    noise = np.random.default_rng(1).integers(0, 256, (1440, 2560, 3)).astype(np.uint8)
    large = tuple((x * 4, y * 4) for x, y in TILE.corners_px)
    jpeg = crop(noise, (large,))
    assert jpeg is not None
    assert len(jpeg) <= MAX_CROP_BYTES


def plays_in(table: TrueTable) -> list[int]:
    return [entry.seq for entry in entries(table.live.session.state) if isinstance(entry.action, Play)]


def kept_by(table: TrueTable) -> Crops:
    return table.page.feed.crops


def test_each_play_is_kept_once_in_memory_and_in_the_recording(tmp_path: Path) -> None:
    recorder = file_recorder(RecordingQuota(tmp_path, 10**9), tmp_path / "a.mcap")
    with at_table(recorder=recorder, hands=2) as table:
        table.play(3)
        while (hand := game_of(table).hand) is None or hand.number < 2 or len(game_of(table).layout.nodes) < 4:
            table.play(1)
        plays, kept = plays_in(table), {evidence.of: evidence for evidence in kept_by(table)}
    recorder.close()
    assert len(plays) > 10
    recorded = [evidence_of(record) for record in records_of(tmp_path / "a.mcap") if record.topic is Topic.EVIDENCE]
    assert [evidence.of for evidence in recorded if evidence is not None] == plays
    assert [kept[seq] for seq in plays] == recorded
    # The first tiles are far from the edge of the picture, so the centre of the crop is on the tile.
    image = decoded(kept[plays[1]].jpeg)
    assert is_outlined(image, (image.shape[1] / 2, image.shape[0] / 2))


def test_only_corrections_by_the_reader_renew_a_crop() -> None:
    session = line(seen((3, 5), (0, 0)))
    (known,) = session.places.known
    image = np.full((900, 900, 3), 90, np.uint8)
    view = TableView((known.tile,), (), ())
    cutter = Cutter(opened(BONES, PLAYERS)[0])

    def cut(t_ns: int, *events: Event, has_picture: bool = True) -> list[tuple[int | str, int]]:
        after = replace(session, state=changed(session.state, log=Trail((*session.state.log, *events))))
        step = Step(t_ns, after, events=events, view=view if has_picture else None)
        return [(evidence.of, evidence.t_ns) for evidence in cutter.after(step, image if has_picture else None)]

    seq = Seq(int(known.node))
    amend = Amend(seq, session.state.log[seq])  # type: ignore[arg-type]  # a play
    assert cut(1) == [(seq, 1)]
    assert cut(2) == []
    assert cut(3, amend) == [(seq, 3)]
    assert cut(4, amend, has_picture=False) == []
    assert Cutter(session).after(Step(5, session, view=view), image) == ()
    away = replace(view, aim=Alignment((1.0, 0.0, 5000.0, 0.0, 1.0, 0.0)))
    assert Cutter(opened(BONES, PLAYERS)[0]).after(Step(6, session, view=away), image) == (), "now outside the picture"


def test_a_question_about_a_tile_is_kept_by_its_topic() -> None:
    with at_table(reader=doubtful) as table:
        table.play(ASKED_AFTER)
        asked = table.live.session.open_question
        assert asked is not None
        evidence = kept_by(table).find(asked.topic)
        assert isinstance(evidence, Evidence)
        assert decoded(evidence.jpeg).size > 0


def test_a_question_without_a_tile_shows_all_waiting_tiles() -> None:
    session, image = opened(BONES, PLAYERS)[0], np.full((480, 640, 3), (50, 74, 28), np.uint8)
    tiles = (seen_tile(5, 4, x_px=200.0, y_px=200.0), seen_tile(1, 0, x_px=400.0, y_px=260.0))
    for tile in tiles:
        cv2.fillPoly(image, [np.array(tile.corners_px, np.int32)], (210, 229, 236))
    places = replace(session.places, waiting=tuple(Waiting(tile) for tile in tiles))
    ambiguity = Ambiguity(None, "which was first?", choices=("5-4", "1-0"))
    question = Question(ambiguity, (Meaning(), Meaning()))
    asked = replace(session, places=places, questions=(question,))
    cutter, view = Cutter(session), TableView(tiles, (), ())
    (evidence,) = cutter.after(Step(1, asked, view=view), image)
    assert evidence.of == "1-0 / 5-4"
    shown = decoded(evidence.jpeg)
    assert shown.shape[1] == pytest.approx(320, abs=2), "both tiles, 200 px apart, with a margin of a tile"
    line = np.asarray((shown[..., 2] > 180) & (shown[..., 0] < 150), np.uint8)
    outlines = cv2.connectedComponents(cv2.dilate(line, np.ones((7, 7), np.uint8)))[0] - 1
    assert outlines == len(tiles)
    assert cutter.after(Step(2, asked, view=view), image) == ()
    assert cutter.after(Step(3, session, view=view), image) == ()
    assert len(cutter.after(Step(4, asked, view=view), image)) == 1, "the question is open again"


@pytest.mark.parametrize(("game", "seed", "kinds"), [("cutthroat", 10, {Play, Stack}), ("super", 1, {Play})])
def test_stacks_and_plays_of_other_games_are_kept(game: str, seed: int, kinds: set[type]) -> None:
    with at_table(seed=seed, rules=profile(game), players=PLAYERS_OF[game]) as table:
        table.play(13)
        tiles = {entry.seq: type(entry.action) for entry in entries(table.live.session.state)}
        kept = {evidence.of for evidence in kept_by(table)}
    wanted = {seq for seq, kind in tiles.items() if kind in kinds}
    assert {tiles[seq] for seq in wanted} == kinds
    assert wanted == kept & set(tiles)
