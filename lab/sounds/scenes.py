"""Modelled hits of a table at known times, as a microphone near it records them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hardware.knock.sensor import Sound
from lab.sounds import impacts
from lab.sounds.impacts import LENGTH, RATE_HZ, Spectrum, force
from lab.sounds.surroundings import PlacedMicrophone, add_pre_echo
from lab.sounds.tables import TableModes, random_place, thing_rings

# Samples before the start of a hit, to leave room for a recorder's pre-echo.
LEAD = 400

Contacts: TypeAlias = list[impacts.Impact]
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
        rng: Random generator.
        kind: Kind of hit.
        table: Table that is hit.
        microphone: Microphone that picks it up.
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
            return impacts.knuckle(rng)
        case Sound.FINGER:
            return impacts.finger_pad(rng)
        case Sound.NAIL:
            return impacts.nail(rng)
        case Sound.NAIL_TIP:
            return impacts.nail_tip(rng)
        case Sound.SLAM:
            return impacts.slam(rng)
        case Sound.GLASS:
            return impacts.glass(rng)
        case _:
            return impacts.tile(rng)


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
    for impact in impacts.shuffle(rng, lasts_s=lasts_s):
        first = round(impact.at_s * RATE_HZ)
        rings = places[int(rng.integers(3))] if rng.random() < 0.35 else clatter
        pressed = force([impacts.Impact(0.0, impact.lasts_s, impact.push, impact.softness)])
        sound[first : first + LENGTH] += np.roll(np.fft.irfft(pressed * rings / _level(rings), LENGTH), LEAD)
    return sound


def _level(spectrum: Spectrum) -> float:
    return float(np.sqrt((np.abs(spectrum) ** 2).mean())) + 1e-12
