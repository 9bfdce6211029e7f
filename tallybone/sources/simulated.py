"""Use a simulated table as a camera: it plays a match, hands and all, and gives the inputs that no camera sees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from engine import EngineError, Rules, parse_options
from hardware.camera.device import CameraError
from hardware.clock import Clock
from tallybone.choices import Difficulty
from tallybone.session.sitting import ByHand
from tallybone.simulate.items import SimulatedInput, SimulatedItem, TrueEvent
from tallybone.simulate.players import TruthfulPlayers
from tallybone.simulate.scenes import LOOKS
from tallybone.simulate.simulation import Simulation, SimulationSettings
from tallybone.sources.camera import SIMULATED, PlayedCamera, Shown, shot_of
from tallybone.sources.source import RecordedInput
from vision.tracking.watch import Frame

_KEYS = ("seed", "hands", "look", "difficulty")


def simulation_of(source: str, rules: Rules, players: tuple[str, ...]) -> Simulation:
    """Return the table that a source describes.

    Args:
        source: `simulated`, or with options: `simulated:seed=3,difficulty=easy,hands=1,look=walnut`.
        rules: The game at it.
        players: Their names.

    Raises:
        CameraError: If there is no such table.
    """
    _, _, said = source.partition(":")
    try:
        wished = parse_options(said)
        unknown = sorted(set(wished) - set(_KEYS))
        if unknown:
            raise ValueError(f"{unknown[0]}: expected {', '.join(_KEYS)}")
        look = wished.get("look")
        if look is not None and look not in LOOKS:
            raise ValueError(f"look: expected one of {', '.join(LOOKS)}, got {look}")
        for key in ("seed", "hands"):
            if key in wished and not wished[key].isdecimal():
                raise ValueError(f"{key}: expected a whole number, got {wished[key]}")
        hands = int(wished["hands"]) if "hands" in wished else None
        difficulty = wished.get("difficulty", Difficulty.NORMAL.value)
        if difficulty not in list(Difficulty):
            raise ValueError(f"difficulty: expected one of {', '.join(Difficulty)}, got {difficulty}")
        wishes = SimulationSettings(
            rules=rules,
            players=players,
            seed=int(wished.get("seed", "1")),
            hands=hands,
            look=look,
            difficulty=Difficulty(difficulty),
        )
    except (EngineError, ValueError) as error:
        raise CameraError(f"{source}: {error}") from error
    return Simulation(wishes)


def open_simulated(simulation: Simulation, clock: Clock, *, speed: float = 1.0) -> PlayedCamera:
    """Return the camera over a simulated table, at the pace of people or as fast as it is taken."""
    players = TruthfulPlayers()
    return PlayedCamera(_shown(simulation.items(), players), clock, players=players.answer, speed=speed)


def _shown(items: Iterable[SimulatedItem], players: TruthfulPlayers) -> Iterator[Shown]:
    """Yield pictures and inputs; only the *players* learn the truth."""
    for item in items:
        if isinstance(item, Frame):
            yield shot_of(item.image, item.t_ns, SIMULATED)
        elif isinstance(item, SimulatedInput):
            yield RecordedInput(item.t_ns, SIMULATED, partial(_same, item.value))
        elif isinstance(item, TrueEvent):
            players.observe(item.event)


def _same(value: ByHand) -> ByHand:
    return value
