"""Recorded everyday sounds from Debian packages, mixed with the models for training. None has knocks or dominoes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from hardware.knock.heard import SoundBlock
from hardware.knock.onsets import PORTION
from hardware.knock.stream import Stream
from synthetic.library.packages import Collection, files_of, require_packages
from synthetic.sounds.impacts import RATE_HZ
from synthetic.sounds.surroundings import Waveform

# Speech in three languages by telephone voices (CC-BY-SA 3.0) and in 25 by amateurs (GPL-2+), a keyboard (GPL-2+),
# steps, digging, doors and machines (CC-BY-SA 3.0), and music (CC0).
COLLECTIONS: Mapping[str, tuple[Collection, ...]] = MappingProxyType(
    {
        "speech": (
            Collection("asterisk-core-sounds-en-wav", "asterisk/sounds/en_US_f_Allison/**/*.wav"),
            Collection("asterisk-core-sounds-fr-wav", "asterisk/sounds/fr_CA_f_June/**/*.wav"),
            Collection("asterisk-core-sounds-ru-wav", "asterisk/sounds/ru_RU_f_IvrvoiceRU/**/*.wav"),
            Collection("klettres-data", "klettres/*/*/*.ogg"),
            Collection("klettres-data", "klettres/*/*/*.ogg"),
        ),
        "typing": (Collection("bucklespring-data", "buckle/wav/*.wav"),),
        "others": (
            Collection("minetest-data", "games/minetest/games/minetest_game/mods/*/sounds/*.ogg"),
            Collection("redeclipse-data", "games/redeclipse/data/sounds/**/*.ogg"),
            Collection("sonic-pi-samples", "sonic-pi/samples/loop_*.flac"),
        ),
    }
)
"""Collections of each group of everyday sounds. One that occurs twice is drawn twice as often."""
_LONGEST_S = 3.0
# Keys are struck one after the other, at these distances.
_KEYS, _KEY_GAP_S = (2, 9), (0.06, 0.35)


def require_library(root: Path) -> None:
    """Check that all collections are below *root*.

    Raises:
        MissingPackagesError: If packages are missing.
    """
    require_packages(root, (part for parts in COLLECTIONS.values() for part in parts), "sounds")


def recorded_sound(rng: np.random.Generator, root: Path, group: str) -> Waveform:
    """Return a random recorded sound of a group, up to 3 s long, with a peak of 1.

    Args:
        rng: Random generator.
        root: Folder below which the packages are installed, usually `/usr/share`.
        group: Group in `COLLECTIONS`.
    """
    if group != "typing":
        return _drawn(rng, root, group)
    gaps_s = rng.uniform(*_KEY_GAP_S, int(rng.integers(*_KEYS)))
    starts = np.append(0, np.cumsum(gaps_s) * RATE_HZ).astype(int)
    keys = [_drawn(rng, root, group) * rng.uniform(0.4, 1.0) for _ in starts]
    total = np.zeros(max(start + len(key) for start, key in zip(starts, keys, strict=True)))
    for start, key in zip(starts, keys, strict=True):
        total[start : start + len(key)] += key
    return np.asarray(total / np.abs(total).max())


def _drawn(rng: np.random.Generator, root: Path, group: str) -> Waveform:
    collections = COLLECTIONS[group]
    files = files_of(root, collections[int(rng.integers(len(collections)))])
    sound = read_sound(files[int(rng.integers(len(files)))])
    if not sound.any():  # a file for a language that has no such word
        return _drawn(rng, root, group)
    longest = round(_LONGEST_S * RATE_HZ)
    # Include the loudest moment, because some files have long pauses.
    begin = max(0, int(np.abs(sound).argmax()) - int(rng.integers(longest)))
    part = sound[begin : begin + longest].astype(np.float64)
    return np.asarray(part / np.abs(part).max())


@lru_cache(maxsize=4096)
def read_sound(path: Path) -> NDArray[np.float32]:
    """Return the samples of a WAV, Ogg or FLAC file at 16 kHz, mixed to one channel, shape (N,)."""
    import soundfile

    samples, rate_hz = soundfile.read(path, dtype="float32", always_2d=True)
    padded = np.pad(samples.mean(axis=1), (0, 2 * PORTION * -(-rate_hz // RATE_HZ)))
    return np.concatenate([portion.samples for portion in Stream().feed(SoundBlock(padded, 0, rate_hz))])
