"""Modelled hits of a table at known times, as a microphone near it records them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hardware.knock.sensor import Sound
from lab.sounds import signals
from lab.sounds.signals import (
    LENGTH,
    RATE_HZ,
    Impact,
    PlacedMicrophone,
    Spectrum,
    add_pre_echo,
    bounces,
    force,
    frequencies,
    ringing,
    uniform_log,
)

# Random tables as vibrating plates with modes, and the ringing of tiles and glasses.
#
# Tops are solid plates, sandwiches and hollow boxes of wood, stone, glass, metal or plastic. Some have a cloth on top,
# air that resonates below, or loose parts that rattle.


@dataclass(frozen=True, slots=True)
class Material:
    """Material of a table top.

    Attributes:
        thick_m: Minimum and maximum thickness.
        loss: Minimum and maximum loss factor (share of energy lost per radian) at 500 Hz, including legs and cloth.
        rise: Exponent of the increase of the loss with frequency.
        across: Minimum and maximum speed across the grain, relative to the speed along it.
        core_m_per_s: Minimum and maximum speed of shear waves in the core of a sandwich, or None for a solid plate.
            It limits the speed of bending waves, so high modes are lower and closer than in a solid plate.
        is_hollow: True if the core is mostly air, enclosed by skins that vibrate by themselves.
    """

    speed_m_per_s: float
    thick_m: tuple[float, float]
    loss: tuple[float, float]
    rise: float
    across: tuple[float, float] = (0.95, 1.0)
    core_m_per_s: tuple[float, float] | None = None
    is_hollow: bool = False


MATERIALS = {
    "wood": Material(4500, (0.012, 0.040), (0.02, 0.15), 0.3, (0.3, 0.9)),
    "board": Material(2600, (0.010, 0.030), (0.025, 0.15), 0.2),
    "thin board": Material(2400, (0.003, 0.010), (0.03, 0.20), 0.2),
    "marble": Material(5200, (0.010, 0.030), (0.006, 0.08), 0.0),
    "glass": Material(5400, (0.005, 0.012), (0.006, 0.08), 0.0),
    "ceramic": Material(4500, (0.006, 0.012), (0.008, 0.08), 0.0),
    "desk": Material(2500, (0.016, 0.040), (0.03, 0.20), 0.1),
    "thick wood": Material(4200, (0.040, 0.060), (0.015, 0.12), 0.3, (0.3, 0.9)),
    "sheet metal": Material(5200, (0.0008, 0.004), (0.003, 0.08), 0.0),
    "metal mesh": Material(2600, (0.0015, 0.004), (0.004, 0.06), 0.0, (0.5, 1.0)),
    "plastic": Material(1600, (0.003, 0.020), (0.03, 0.15), 0.1),
    # A sandwich with two skins of thickness t and modulus E, height h and mass m per area bends like a solid plate of
    # the same height with a speed of sound of sqrt(6 E t / m): 3300 m/s for skins of 3 mm of fibreboard (E = 4 GPa) and
    # m = 6.5 kg/m2. A paper honeycomb with a shear modulus G of 10 to 30 MPa carries shear waves at sqrt(G h / m), here
    # 240 to 410 m/s.
    "honeycomb board": Material(3200, (0.030, 0.060), (0.02, 0.12), 0.15, (0.6, 1.0), (200, 600)),
    "hollow door": Material(3300, (0.033, 0.045), (0.02, 0.15), 0.15, (0.6, 1.0), (150, 450), is_hollow=True),
    "folding plastic": Material(1900, (0.030, 0.055), (0.03, 0.15), 0.1, (0.6, 1.0), (120, 400), is_hollow=True),
}
_PLAIN_MATERIALS = ("wood", "board", "thin board", "marble", "glass", "ceramic", "desk")
_COVERED_SHARE = 0.25
_CAVITY_SHARE = 0.08
_LOOSE_SHARE = 0.15
_AIR_M_PER_S = 343.0
_HIGHEST_HZ = 7_700
# Maximum number of modes, which limits the size of plates. Larger plates sound the same, because reflections from their
# edges are late and weak.
_MAX_MODES = 900


@dataclass(frozen=True, slots=True, eq=False)
class LooseParts:
    """Parts of a table, or things on it, that rattle after a hit.

    Attributes:
        rings: Spectrum of their response to a unit impulse, of level 1.
        loudness_db: Level relative to the table.
        restitution: Speed after an impact relative to the speed before it.
    """

    rings: Spectrum
    loudness_db: float
    gap_s: float
    restitution: float


@dataclass(frozen=True, slots=True, eq=False)
class TableModes:
    """Modes of a table and the points that the microphone picks up.

    Attributes:
        modes_hz: Frequency of each mode, shape (K,).
        decays: Decay rate of each mode in 1/s, shape (K,).
        waves: Number of half waves of each mode along and across the table, shape (K, 2).
        loudness: Radiation of each mode, shape (K,).
        ears: Points on the table that are picked up, 0 to 1 along and across, shape (E, 2). A single point for a
            microphone on the table, several for a microphone above it.
        gains: Gain of each point, shape (E,).
        cover: Transfer function from a force on the cloth or vinyl to the table, or None for a bare table.
        loose: Parts that rattle, or None.
    """

    modes_hz: NDArray[np.float64]
    decays: NDArray[np.float64]
    waves: NDArray[np.float64]
    loudness: NDArray[np.float64]
    ears: NDArray[np.float64]
    gains: NDArray[np.float64]
    own_gain: float
    cover: Spectrum | None = None
    loose: LooseParts | None = None

    def struck(self, place: NDArray[np.float64], *, held: float = 1.0) -> Spectrum:
        """Return the spectrum of the response to a unit impulse.

        High frequencies arrive first, because they travel faster through a plate than low ones.

        Args:
            place: Where the table is hit, 0 to 1 along and across, shape (2,).
            held: Factor on the decay rates, for damping by a hand.
        """
        here = self._shapes(place)
        there = self.own_gain * here + self.gains @ np.stack([self._shapes(ear) for ear in self.ears])
        rings = ringing(self.modes_hz, self.decays * held, self.loudness * here * there, count=LENGTH)
        spectrum = np.fft.rfft(rings)
        return np.asarray(spectrum if self.cover is None else spectrum * self.cover)

    def rattle(self, rng: np.random.Generator) -> Spectrum | None:
        """Return the spectrum of loose parts after a hit, relative to a table of level 1, or None.

        They are thrown up 0.5 to 15 ms after the hit and bounce. The hardness of their contacts does not depend on the
        hit.
        """
        if self.loose is None:
            return None
        times_s, pushes = bounces(rng, gap_s=self.loose.gap_s, restitution=self.loose.restitution, most=8)
        start_s, lasts_s = rng.uniform(0.0005, 0.015), uniform_log(rng, 0.0001, 0.0006)
        contacts = [Impact(start_s + float(t), lasts_s, float(push)) for t, push in zip(times_s, pushes, strict=True)]
        spectrum = force(contacts) * self.loose.rings
        level = np.sqrt((np.abs(spectrum) ** 2).mean()) + 1e-12
        return np.asarray(spectrum / level * 10 ** ((self.loose.loudness_db + rng.normal(0, 3)) / 20))

    def _shapes(self, place: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the amplitude of each mode at a point, shape (K,)."""
        return np.asarray(np.cos(np.pi * self.waves * place).prod(axis=1))


def random_place(rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a point of a table, 0 to 1 along and across, shape (2,)."""
    return rng.uniform(0.02, 0.98, 2)


def random_table(rng: np.random.Generator, *, material: Material | None = None) -> TableModes:
    """Return a table with random size, thickness, damping, cover, radiation and loose parts.

    Args:
        material: Material of the top, or None for a random one.
    """
    material = material or MATERIALS[str(rng.choice(list(MATERIALS)))]
    table = _bare_table(rng, material)
    if material.is_hollow:
        # A hollow top with the modes of its thin skins between ribs, from 150 Hz on. A skin of 2 to 5 mm between ribs
        # that are 0.1 to 0.4 m apart has its lowest mode at 150 to 900 Hz.
        count = int(rng.integers(8, 40))
        skins_hz = uniform_log(rng, 150, 900) * np.cumsum(np.append(1.0, rng.exponential(0.35, count - 1)))
        skins_hz = skins_hz[skins_hz < _HIGHEST_HZ]
        decays = np.pi * skins_hz * uniform_log(rng, 0.015, 0.12) + uniform_log(rng, 8, 100)
        # A skin is loud within a few cells, so its mode has many half waves over the whole top.
        waves = rng.uniform(3, 30, (len(skins_hz), 2))
        loudness = np.median(table.loudness) * rng.lognormal(0, 0.6, len(skins_hz)) * uniform_log(rng, 0.3, 6)
        table = _with_modes(table, skins_hz, decays, waves, loudness)
    if rng.random() < _COVERED_SHARE:
        ratio = frequencies() / uniform_log(rng, 300, 5000)
        cover = np.asarray(1 / (1 - ratio**2 + 1j * ratio * rng.uniform(0.8, 2.0)), np.complex128)
        loss = uniform_log(rng, 0.005, 0.1) * (table.modes_hz / 500) ** rng.uniform(0, 0.5)
        table = replace(table, cover=cover, decays=table.decays + np.pi * table.modes_hz * loss)
    if material.is_hollow or rng.random() < _CAVITY_SHARE:
        # A table that resonates on the air of a cavity below or within its top, at 60 to 300 Hz. The air of depth d
        # between masses m1 and m2 per area is a spring: f = sqrt(1.4e5 Pa / d (1 / m1 + 1 / m2)) / (2 pi) (Fahy and
        # Gardonio, Sound and Structural Vibration). A door of two skins of 2.7 kg/m2 at 35 mm has 274 Hz. A top of 8
        # kg/m2 over a drawer of 0.12 m has 61 Hz.
        air_hz = np.array([uniform_log(rng, 60, 300)])
        decay = np.pi * air_hz * uniform_log(rng, 0.02, 0.25) + 8
        # The air pushes the whole top at the same time: no half waves.
        table = _with_modes(
            table, air_hz, decay, np.zeros((1, 2)), np.abs(table.loudness).max(keepdims=True) * uniform_log(rng, 0.2, 4)
        )
    return replace(table, loose=_loose_parts(rng)) if rng.random() < _LOOSE_SHARE else table


def plain_table(rng: np.random.Generator) -> TableModes:
    """Return a bare table with a solid top, like those that the supplied classifier was trained on."""
    return _bare_table(rng, MATERIALS[str(rng.choice(_PLAIN_MATERIALS))])


def _bare_table(rng: np.random.Generator, material: Material) -> TableModes:
    """Return a table without a cover, resonating air or loose parts."""
    thick_m = uniform_log(rng, *material.thick_m)
    modes_hz, waves = _modes(rng, material, thick_m)
    loss = uniform_log(rng, *material.loss) * (modes_hz / 500) ** (material.rise + rng.uniform(-0.2, 0.1))
    decays = np.pi * modes_hz * loss + uniform_log(rng, 8, 200)
    # Coincidence frequency. Below it, a plate radiates little.
    coincidence_hz = _AIR_M_PER_S**2 * np.sqrt(12) / (2 * np.pi * thick_m * material.speed_m_per_s)
    loudness = np.minimum(1, modes_hz / coincidence_hz) ** rng.uniform(-0.3, 1.0) * modes_hz ** rng.uniform(-0.7, 0.5)
    is_on_table = rng.random() < 0.5
    ears = rng.uniform(0, 1, (1 if is_on_table else 4, 2))
    gains = np.ones(1) if is_on_table else rng.normal(0, 1, 4)
    own_gain = 0.0 if is_on_table else rng.uniform(0.2, 2.0)
    return TableModes(modes_hz, decays, waves, loudness * rng.lognormal(0, 0.3, len(modes_hz)), ears, gains, own_gain)


def _modes(
    rng: np.random.Generator, material: Material, thick_m: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the frequencies of a plate's modes, shape (K,), and their half waves along and across it, shape (K, 2)."""
    sizes_m = np.array([rng.uniform(0.6, 2.0), rng.uniform(0.45, 1.1)])
    speeds = material.speed_m_per_s * np.array([1.0, rng.uniform(*material.across)])
    stiff = np.pi * thick_m * speeds / (2 * np.sqrt(12))
    core = np.inf if material.core_m_per_s is None else uniform_log(rng, *material.core_m_per_s) / 2
    # Half waves per metre at the highest frequency.
    square = (stiff / core) ** 2
    inverse = (np.sqrt(square**2 + 4 * (stiff / _HIGHEST_HZ) ** 2) - square) / 2
    highest = np.asarray(1 / np.sqrt(inverse))
    # The modes below a frequency fill a quarter of an ellipse.
    count = np.pi / 4 * (sizes_m * highest).prod()
    sizes_m = sizes_m * min(1.0, np.sqrt(_MAX_MODES / count))
    most = (sizes_m * highest).astype(int) + 1
    waves = np.stack(np.meshgrid(np.arange(most[0] + 1), np.arange(most[1] + 1)), axis=-1).reshape(-1, 2)
    bending_hz = (stiff * (waves / sizes_m) ** 2).sum(axis=1)
    shear_hz = core * np.hypot(*(waves / sizes_m).T) if np.isfinite(core) else np.inf
    modes_hz = bending_hz / np.hypot(1, bending_hz / np.maximum(shear_hz, 1e-9))
    # Legs and frame stiffen the lowest modes, and plates are never perfectly even.
    modes_hz = np.hypot(modes_hz, rng.uniform(25, 120)) * rng.normal(1, 0.02, len(modes_hz))
    is_audible = modes_hz < _HIGHEST_HZ
    return modes_hz[is_audible], waves[is_audible].astype(np.float64)


def _with_modes(
    table: TableModes,
    modes_hz: NDArray[np.float64],
    decays: NDArray[np.float64],
    waves: NDArray[np.float64],
    loudness: NDArray[np.float64],
) -> TableModes:
    return replace(
        table,
        modes_hz=np.concatenate([table.modes_hz, modes_hz]),
        decays=np.concatenate([table.decays, decays]),
        waves=np.concatenate([table.waves, waves]),
        loudness=np.concatenate([table.loudness, loudness]),
    )


def _loose_parts(rng: np.random.Generator) -> LooseParts:
    """Return a loose leg, drawer, leaf, handle or thing on the table: two to ten modes between 150 and 7000 Hz."""
    lowest_hz = uniform_log(rng, 150, 2500)
    highest_hz = min(7000.0, lowest_hz * rng.uniform(2, 8))
    rings = thing_rings(rng, from_hz=lowest_hz, to_hz=highest_hz, loss=(0.005, 0.2), count=int(rng.integers(2, 11)))
    level = np.sqrt((np.abs(rings) ** 2).mean()) + 1e-12
    return LooseParts(rings / level, rng.uniform(-35, 0), uniform_log(rng, 0.002, 0.03), rng.uniform(0.4, 0.9))


def thing_rings(
    rng: np.random.Generator, *, from_hz: float, to_hz: float, loss: tuple[float, float], count: int
) -> Spectrum:
    """Return the spectrum of an object's own ringing, such as the short click of a tile or the long ring of a glass.

    Args:
        from_hz: Minimum frequency of a mode.
        to_hz: Maximum frequency of a mode.
        loss: Minimum and maximum loss factor (share of energy lost per radian).
    """
    modes_hz = rng.uniform(from_hz, to_hz, count)
    decays = np.pi * modes_hz * uniform_log(rng, *loss)
    return np.asarray(np.fft.rfft(ringing(modes_hz, decays, rng.normal(0, 1, count), count=LENGTH)))


# Samples before the start of a hit, to leave room for a recorder's pre-echo.
LEAD = 400

Contacts: TypeAlias = list[signals.Impact]
"""Contacts of one hit."""


@dataclass(frozen=True, slots=True)
class SoundEvent:
    """A sound from *t_s* to *until_s*, relative to the start of the scene."""

    kind: Sound
    t_s: float
    until_s: float


@dataclass(frozen=True, slots=True, eq=False)
class SoundScene:
    """A modelled recording.

    Attributes:
        samples: Samples at 16 kHz, shape (N,).
        events: Sounds in the recording, in order.
    """

    samples: NDArray[np.float32]
    events: tuple[SoundEvent, ...]


def hit(
    rng: np.random.Generator,
    kind: Sound,
    table: TableModes,
    microphone: PlacedMicrophone,
    *,
    contacts: Contacts | None = None,
    place: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Return the sound of a hit, shape (LENGTH,), not normalised in loudness. It starts after LEAD samples.

    Args:
        contacts: Contacts of the hit. By default random ones of *kind*.
        place: Where the table is hit. By default a random point.

    Raises:
        ValueError: If *kind* is a shuffle, which is many hits.
    """
    if kind is Sound.SHUFFLE:
        raise ValueError(f"kind: expected a single hit, got {kind}")
    pressed = force(contacts_of(rng, kind=kind) if contacts is None else contacts)
    held = _held(rng, kind)
    spectrum = pressed * table.struck(random_place(rng) if place is None else place, held=held)
    own = _own(rng, kind)
    if own is not None:
        # The relative loudness of object and table is unknown: equalise their levels, then draw it at random.
        ringing = pressed * own
        spectrum = spectrum / _level(spectrum) + ringing / _level(ringing) * 10 ** (rng.uniform(-30, 3) / 20)
    rattle = table.rattle(rng)
    if rattle is not None:
        spectrum = spectrum / _level(spectrum) + rattle
    return add_pre_echo(rng, microphone, np.roll(np.fft.irfft(spectrum * microphone.response, LENGTH), LEAD), LEAD)


def contacts_of(rng: np.random.Generator, *, kind: Sound) -> Contacts:
    """Return the contacts of a random hit of a kind."""
    match kind:
        case Sound.KNOCK:
            return signals.knuckle(rng)
        case Sound.FINGER:
            return signals.finger_pad(rng)
        case Sound.NAIL:
            return signals.nail(rng)
        case Sound.NAIL_TIP:
            return signals.nail_tip(rng)
        case Sound.SLAM:
            return signals.slam(rng)
        case Sound.GLASS:
            return signals.glass(rng)
        case _:
            return signals.tile(rng)


def _held(rng: np.random.Generator, kind: Sound) -> float:
    """Return a random factor on the table's decay rate, because a soft object stays in contact and damps the table."""
    most = {Sound.KNOCK: 3.0, Sound.FINGER: 3.0, Sound.NAIL: 2.0, Sound.NAIL_TIP: 2.0, Sound.SLAM: 3.0}.get(kind, 1.2)
    return float(rng.uniform(1.0, most))


def _own(rng: np.random.Generator, kind: Sound) -> Spectrum | None:
    match kind:
        case Sound.TILE | Sound.SLAM:
            return thing_rings(rng, from_hz=2_500, to_hz=7_600, loss=(0.01, 0.08), count=4)
        case Sound.GLASS:
            return thing_rings(rng, from_hz=900, to_hz=6_500, loss=(0.0008, 0.01), count=5)
        case _:
            return None


def shuffle_of(rng: np.random.Generator, table: TableModes, microphone: PlacedMicrophone) -> NDArray[np.float64]:
    """Return the sound of a shuffle, which starts after LEAD samples, not normalised in loudness.

    A third of the clicks are on the table, the others between tiles.
    """
    lasts_s = float(rng.uniform(0.3, 1.6))
    sound = np.zeros(round(lasts_s * RATE_HZ) + LENGTH)
    clatter = thing_rings(rng, from_hz=2_500, to_hz=7_600, loss=(0.01, 0.06), count=8) * microphone.response
    clatter /= _level(clatter)
    places = [table.struck(random_place(rng)) * microphone.response for _ in range(3)]
    for impact in signals.shuffle(rng, lasts_s=lasts_s):
        first = round(impact.at_s * RATE_HZ)
        rings = places[int(rng.integers(3))] if rng.random() < 0.35 else clatter
        pressed = force([signals.Impact(0.0, impact.lasts_s, impact.push, impact.softness)])
        sound[first : first + LENGTH] += np.roll(np.fft.irfft(pressed * rings / _level(rings), LENGTH), LEAD)
    return sound


def _level(spectrum: Spectrum) -> float:
    return float(np.sqrt((np.abs(spectrum) ** 2).mean())) + 1e-12
