"""Tests of camera faults in a match: freezing, black pictures and disconnection are reported and harmless."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import httpx
import numpy as np
import pytest

from tallybone.choices import TileSet
from tallybone.play.game import LiveGame
from tallybone.play.recorder import RecordingQuota
from tallybone.play.start import new_game, newest_left, recorder_of, state_of
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tallybone.session.sitting import Sitting, opened
from tallybone.sources.camera import DeviceCamera
from tests.tallybone.crash.game import Match, NumberReader, match_of, number_in, picture_of
from tests.tallybone.play.test_game import Apart, Script
from tests.tallybone.serve.served import Served, at_served_table
from tests.tallybone.serve.test_matches import NEW, act, wait_for_match
from tests.tallybone.sources.faulty_camera import Fault, FaultyScene, camera_over
from tests.tallybone.web.true_table import PIN
from tests.waiting import PATIENCE_S, until
from vision.arrays import Image
from vision.tracking.table_view import TableView
from vision.tracking.watch import Frame

# Shorter than a hand, because actions after a longer fault would be marked as inferred.
FAULT_S = 35
REPORTED_WITHIN_S = 5
BACK_WITHIN_S = 6


@dataclass
class Played:
    """A match in front of a fake camera, with the real game loop and recording."""

    folder: Path
    match: Match
    seen: int | None = None
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        game = new_game(
            self.match.rules, (), self.match.players, tile_set=TileSet.AUTO, in_play=False,
            began=datetime(2026, 11, 21, tzinfo=UTC), software="tallybone",
        )  # fmt: skip
        self.scene = FaultyScene(picture_of(0))
        self.camera = DeviceCamera("usb:0", camera_over(self.scene, self.folder), self.scene.clock)
        self.recorder = recorder_of(game, RecordingQuota(self.folder / "kept", 10**12), self.notes.append, t_ns=0)
        self._reader, script = NumberReader(self.match.looks), Script()
        script.notes = self.notes
        self.sitting = Sitting(self._look, opened(game.rules, game.start.players)[0])
        self.live = LiveGame(
            self.camera, self.sitting, self.recorder, Apart(script), clock=self.scene.clock, max_per_s=10
        )

    def _look(self, frame: Frame) -> TableView:
        self.seen = number_in(frame.image)
        return self._reader.look(frame)

    def passes(self, seconds: float) -> None:
        """Advance the time and run the loop, twice per picture to keep up with the camera."""
        for _ in range(round(seconds / 0.05)):
            self.scene.advance(0.05)
            self.live.look()

    def sees(self, number: int) -> None:
        """Show picture *number*, and wait until the table has read it."""
        self.scene.show(picture_of(number))
        for _ in range(BACK_WITHIN_S * 5):
            self.passes(0.2)
            if self.seen == number:
                return
        raise AssertionError(f"picture {number} was never read")

    def has(self, fault: Fault, number: int) -> None:
        """Cause a fault for half a minute, and change the scene to picture *number* in the middle of it."""
        before, noted = self.sitting.session.state.log, len(self.notes)
        self.scene.set_fault(fault)
        for _ in range(REPORTED_WITHIN_S * 2):
            self.passes(0.5)
        assert any(fault.value in note for note in self.notes[noted:])
        assert self.live.now.reader == "no camera"
        assert not self.live.now.is_healthy
        self.scene.show(picture_of(number))
        for _ in range(FAULT_S // 5 - 1):
            self.passes(5)
        assert self.sitting.session.state.log == before, "an event was invented"
        self.scene.set_fault(None)
        noted = len(self.notes)
        self.sees(number)
        assert "the camera is back" in self.notes[noted:]
        assert self.live.now.is_healthy


@pytest.fixture
def match(tmp_path: Path) -> Iterator[Played]:
    playing = Played(tmp_path, match_of("bones", 3))
    yield playing
    playing.scene.run_freely()
    playing.camera.close()


@pytest.mark.slow
def test_a_match_is_unaffected_by_camera_faults(match: Played) -> None:
    looks = [item for item in match.match.items if isinstance(item, int)]
    faults = {looks[len(looks) * at // 7]: fault for at, fault in zip((1, 3, 5), Fault, strict=True)}
    match.sees(looks[0])
    for item in match.match.items[1:]:
        if not isinstance(item, int):
            match.passes(0.6)  # two equal draws at once would be a double press
            match.live.feed(item)
        elif item in faults:
            match.has(faults[item], item)
        else:
            match.sees(item)
    match.recorder.close()
    assert match.sitting.session.state == match.match.state
    (recording,) = (match.folder / "kept").glob("*.mcap")
    assert state_of(left_in(read_recording(recording))) == match.match.state
    for fault in Fault:
        assert sum(fault.value in note for note in match.notes) == 1, "each fault is reported once"
    assert match.notes.count("the camera is back") == len(Fault)


def table_image() -> Image:
    image = np.full((72, 128, 3), 90, np.uint8)
    image[20:50, 30:70] = 200
    return image


def health(table: Served) -> tuple[int, str]:
    answer = httpx.get(f"{table.url}/health", timeout=PATIENCE_S)
    return answer.status_code, " ".join(answer.json()["reasons"])


def totals(client: httpx.Client) -> list[int]:
    return [player["total"] for player in client.get("/state").json()["players"]]


def check_reported(table: Served, client: httpx.Client, fault: Fault) -> None:
    """Wait until a fault is reported everywhere. The table's clock stands still meanwhile."""
    until(lambda: table.out.getvalue().count(fault.value) == 1)
    until(lambda: "the camera gives no pictures" in client.get("/state").json()["problems"])
    status, reasons = health(table)
    assert status == 503
    assert "camera: usb:0" in reasons
    assert fault.value in reasons


def check_healthy(table: Served, client: httpx.Client, *, times_back: int) -> None:
    until(lambda: table.out.getvalue().count("the camera is back") == times_back)
    until(lambda: client.get("/state").json()["problems"] == [])
    assert "camera" not in health(table)[1]


@pytest.fixture
def scene() -> Iterator[FaultyScene]:
    over = FaultyScene(table_image())
    yield over
    over.run_freely()


@pytest.mark.slow
def test_faults_are_reported_everywhere_and_points_are_still_accepted(scene: FaultyScene, tmp_path: Path) -> None:
    served = at_served_table(
        tmp_path, open_device=lambda source, clock: camera_over(scene, tmp_path), clock=scene.clock
    )
    with served as table, table.client() as client:
        assert client.post("/match", json=NEW).status_code == 204
        assert client.post("/login", json={"pin": PIN}).status_code == 204
        scene.advance(BACK_WITHIN_S)
        wait_for_match(client)
        for number, fault in enumerate(Fault):
            check_healthy(table, client, times_back=number)
            scene.set_fault(fault)
            scene.advance(REPORTED_WITHIN_S)
            check_reported(table, client, fault)
            assert act(client, type="points", seat=0, points=5).status_code == 200
            scene.advance(FAULT_S)
            check_reported(table, client, fault)
            assert totals(client) == [10 * number + 5, 0]
            scene.set_fault(None)
            scene.advance(BACK_WITHIN_S)
            check_healthy(table, client, times_back=number + 1)
            assert act(client, type="points", seat=0, points=5).status_code == 200
            assert totals(client) == [10 * number + 10, 0]
        scene.run_freely()
    kept = state_of(newest_left(tmp_path / "tallybone" / "sessions")[1]).game
    assert kept is not None
    assert kept.totals == (30, 0)
