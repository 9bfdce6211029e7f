"""Use a simulated table as a camera.

The simulation plays a match, and also gives the inputs that a camera cannot see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from engine import EngineError, Rules, parse_options
from hardware.camera.device import CameraError
from hardware.part import Clock
from lab.matches.game_script import SimulatedInput, SimulatedItem, TrueEvent, TruthfulPlayers
from lab.matches.room import LOOKS
from lab.matches.simulation import Simulation, SimulationSettings
from tallybone.choices import Difficulty, OptionError
from tallybone.laboratory import SIMULATED
from tallybone.session.observations import Zones
from tallybone.session.sitting import ByHand
from tallybone.sources.camera import PlayedCamera, Shown, shot_of
from tallybone.sources.source import RecordedInput
from vision.tracking.watch import Frame

_KEYS = ("seed", "hands", "look", "difficulty")


class SimulationOptionError(CameraError, OptionError):
    """An option of a simulated table is invalid."""


def simulation_of(source: str, rules: Rules, players: tuple[str, ...]) -> Simulation:
    """Return the simulation described by a source.

    Args:
        source: `simulated`, optionally with options, such as `simulated:seed=3,difficulty=easy,hands=1,look=walnut`.

    Raises:
        SimulationOptionError: If an option is invalid.
    """
    _, _, text = source.partition(":")
    try:
        options = parse_options(text)
        unknown = sorted(set(options) - set(_KEYS))
        if unknown:
            raise ValueError(f"{unknown[0]}: expected {', '.join(_KEYS)}")
        look = options.get("look")
        if look is not None and look not in LOOKS:
            raise ValueError(f"look: expected one of {', '.join(LOOKS)}, got {look}")
        for key in ("seed", "hands"):
            if key in options and not options[key].isdecimal():
                raise ValueError(f"{key}: expected a whole number, got {options[key]}")
        hands = int(options["hands"]) if "hands" in options else None
        difficulty = options.get("difficulty", Difficulty.NORMAL.value)
        if difficulty not in list(Difficulty):
            raise ValueError(f"difficulty: expected one of {', '.join(Difficulty)}, got {difficulty}")
        settings = SimulationSettings(
            rules=rules,
            players=players,
            seed=int(options.get("seed", "1")),
            hands=hands,
            look=look,
            difficulty=Difficulty(difficulty),
        )
    except (EngineError, ValueError) as error:
        raise SimulationOptionError(f"{source}: {error}") from error
    return Simulation(settings)


def open_match(
    source: str, rules: Rules, players: tuple[str, ...], clock: Clock, *, speed: float
) -> tuple[PlayedCamera, Zones]:
    """Return a camera over a simulated match, and the zones of its table. The arguments are those of the others."""
    simulation = simulation_of(source, rules, players)
    return open_simulated(simulation, clock, speed=speed), simulation.room.zones


def open_simulated(simulation: Simulation, clock: Clock, *, speed: float = 1.0) -> PlayedCamera:
    """Return a camera over a simulated table. *speed* 1 is real time, and 0 is as fast as items are taken."""
    players = TruthfulPlayers()
    return PlayedCamera(_shown(simulation.items(), players), clock, players=players.answer, speed=speed)


def _shown(items: Iterable[SimulatedItem], players: TruthfulPlayers) -> Iterator[Shown]:
    """Yield pictures and inputs. True events go to *players* only, and other ground truth is dropped."""
    for item in items:
        if isinstance(item, Frame):
            yield shot_of(item.image, item.t_ns, SIMULATED)
        elif isinstance(item, SimulatedInput):
            yield RecordedInput(item.t_ns, SIMULATED, partial(_same, item.value))
        elif isinstance(item, TrueEvent):
            players.observe(item.event)


def _same(value: ByHand) -> ByHand:
    return value
