"""A simulated table is a camera over the game that is asked for."""

from __future__ import annotations

import pytest

from engine import BONES, Lead, Seat, profile
from hardware.camera.device import CameraError
from tallybone.sources.shots import Shot
from tallybone.sources.simulated import open_simulated, simulation_of
from tallybone.sources.source import RecordedInput
from tests.tallybone.sources.test_camera import Clock
from vision.image.picture import decode_picture


@pytest.mark.slow
def test_it_gives_pictures_and_what_people_say_and_never_the_truth() -> None:
    camera = open_simulated(simulation_of("simulated:seed=3,hands=1", BONES, ("Ann", "Ben")), Clock(), speed=0)
    first = camera.take()
    assert isinstance(first, Shot)
    assert decode_picture(first.jpeg(), "it").shape == (720, 1280, 3)
    said = next(one for one in iter(camera.take, None) if isinstance(one, RecordedInput))
    assert said.load() == Lead(Seat(1))


def test_the_same_seed_is_the_same_table_and_another_is_not() -> None:
    first, same, other = (
        open_simulated(simulation_of(f"simulated:seed={seed}", BONES, ("Ann", "Ben")), Clock(), speed=0).take()
        for seed in (3, 3, 4)
    )
    assert isinstance(first, Shot)
    assert isinstance(same, Shot)
    assert isinstance(other, Shot)
    assert first.jpeg() == same.jpeg() != other.jpeg()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("simulated:seed=x", "seed: expected a whole number, got x"),
        ("simulated:speed=3", "speed: expected seed, hands, look, difficulty"),
        ("simulated:look=pink", "look: expected one of"),
        ("simulated:difficulty=cruel", "cruel"),
        ("simulated:seed", "key=value"),
    ],
)
def test_a_wish_that_cannot_be_is_named(source: str, words: str) -> None:
    with pytest.raises(CameraError, match=words):
        simulation_of(source, profile("bones"), ("Ann", "Ben"))
