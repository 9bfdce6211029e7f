"""Tests of a simulated table as a camera."""

from __future__ import annotations

import pytest

from engine import BONES, Lead, Seat, profile
from hardware.camera.device import CameraError
from lab.matches.camera import open_simulated, simulation_of
from tallybone.sources.source import RecordedInput, Shot
from tests.tallybone.sources.test_camera import Clock
from vision.image.picture import decode_picture


@pytest.mark.slow
def test_delivers_images_and_inputs_but_never_the_truth() -> None:
    camera = open_simulated(simulation_of("simulated:seed=3,hands=1", BONES, ("Ann", "Ben")), Clock(), speed=0)
    first = camera.take()
    assert isinstance(first, Shot)
    assert decode_picture(first.jpeg(), "it").shape == (720, 1280, 3)
    recorded_input = next(item for item in iter(camera.take, None) if isinstance(item, RecordedInput))
    assert recorded_input.load() == Lead(Seat(1))


def test_equal_seeds_give_equal_tables() -> None:
    first, same, other = (
        open_simulated(simulation_of(f"simulated:seed={seed}", BONES, ("Ann", "Ben")), Clock(), speed=0).take()
        for seed in (3, 3, 4)
    )
    assert isinstance(first, Shot)
    assert isinstance(same, Shot)
    assert isinstance(other, Shot)
    assert first.jpeg() == same.jpeg() != other.jpeg()


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("simulated:seed=x", "seed: expected a whole number, got x"),
        ("simulated:speed=3", "speed: expected seed, hands, look, difficulty"),
        ("simulated:look=pink", "look: expected one of"),
        ("simulated:difficulty=cruel", "cruel"),
        ("simulated:seed", "key=value"),
    ],
)
def test_names_an_invalid_option(source: str, error: str) -> None:
    with pytest.raises(CameraError, match=error):
        simulation_of(source, profile("bones"), ("Ann", "Ben"))
