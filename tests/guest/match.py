"""A simulated match as pictures, sounds and truth in a folder, for the parts of a guest."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np

from calibration.lens.lens import Lens
from calibration.table.table import Table, TableSource
from calibration.table.zones import OutlineMm, TableZones, ZoneSource
from engine import Event, Lead
from hardware.knock.sensor import RATE_HZ, Sound
from lab.matches.game_script import SimulatedInput, TrueEvent
from lab.matches.simulation import Simulation, simulation_settings
from tallybone.choices import Difficulty
from tallybone.json_values import to_json
from tallybone.session.inputs import KnockHeard
from tallybone.session.observations import Outline, Zones
from tallybone.store.calibration_file import Calibration, save_calibration
from tests.hardware.knock.scenes import scene_of
from vision.tracking.watch import Frame

_SEED, _HANDS = 3, 3
_NS_PER_S = 1e9
_FOCAL_PX, _MM_PER_PX, _THICKNESS_MM = 930.0, 0.86, 8.0


def write_match(folder: Path) -> None:
    """Write a match of three hands to a new folder.

    It contains pictures as NUMBER.jpg, sounds in match.raw (32-bit floating point), a calibration with the zones of the
    players in table.json, and times, inputs and truth in match.json.
    """
    folder.mkdir(parents=True)
    settings = simulation_settings("bones", players=2, seed=_SEED, hands=_HANDS, difficulty=Difficulty.EASY)
    times_s: list[float] = []
    leads: list[tuple[float, int]] = []
    knocks: list[float] = []
    events: list[dict[str, object]] = []
    size_px = (0, 0)
    simulation = Simulation(settings)
    for item in simulation.items():
        match item:
            case Frame(image=image, t_ns=t_ns):
                cv2.imwrite(str(folder / f"{len(times_s):05}.jpg"), image)
                times_s.append(t_ns / _NS_PER_S)
                size_px = (image.shape[1], image.shape[0])
            case SimulatedInput(t_ns=t_ns, value=KnockHeard()):
                knocks.append(t_ns / _NS_PER_S)
            case SimulatedInput(t_ns=t_ns, value=Lead(seat=seat)):
                leads.append((t_ns / _NS_PER_S, seat))
            case SimulatedInput(value=value):
                raise ValueError(f"a guest has no part for {value}")
            case TrueEvent(t_ns=t_ns, event=event, points=points, totals=totals):
                line = {"t_s": t_ns / _NS_PER_S, "event": to_json(event, Event), "points": points, "totals": totals}
                events.append(line)
            case _:
                pass
    zones = simulation.room.zones
    save_calibration(_calibration(zones, *size_px), folder / "table.json")
    scene = scene_of(np.random.default_rng(_SEED), [(Sound.KNOCK, t_s) for t_s in knocks], lasts_s=times_s[-1])
    (folder / "match.raw").write_bytes(np.asarray(scene.samples, "<f4").tobytes())
    about = {
        "game": settings.rules.name,
        "players": settings.players,
        "size_px": size_px,
        "rate_hz": RATE_HZ,
        "pictures_s": times_s,
        "leads": leads,
        "truth": events,
    }
    (folder / "match.json").write_text(json.dumps(about))


def _calibration(zones: Zones, width_px: int, height_px: int) -> Calibration:
    """Return a calibration that shows *zones* where they are in the picture. The camera looks straight down."""

    def on_table(outline: Outline) -> OutlineMm:
        return tuple(((x - 0.5) * width_px * _MM_PER_PX, (0.5 - y) * height_px * _MM_PER_PX) for x, y in outline)

    lens = Lens(width_px, height_px, (_FOCAL_PX, _FOCAL_PX), ((width_px - 1) / 2, (height_px - 1) / 2))
    turn = (1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, -1.0)
    table = Table(turn, (0.0, 0.0, _FOCAL_PX * _MM_PER_PX), _THICKNESS_MM, TableSource.MARKERS, 0.1, 0.001)
    yard = None if zones.boneyard is None else on_table(zones.boneyard)
    return Calibration(
        lens, table, TableZones(ZoneSource.GIVEN, tuple(on_table(seat.outline) for seat in zones.seats), yard)
    )
