"""Catalogue of everyday sounds that must not be taken for a hit of the table.

All of them are physical models: no recording was used to build or to fit them. Each is dry, as at the source, at
16 kHz, with a peak of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from synthetic.sounds import backgrounds, furniture, hands, small_things, tableware, utterances
from synthetic.sounds.surroundings import Waveform

Model: TypeAlias = Callable[[np.random.Generator], Waveform]
"""Draws a random sound of a kind."""

GROUPS: Mapping[str, tuple[Model, ...]] = MappingProxyType(
    {
        "claps": (hands.clap, hands.clap, hands.applause, hands.finger_snap, hands.rubbing),
        "coughs": (utterances.cough, utterances.throat_clearing, utterances.sneeze, utterances.laugh),
        "speech": (utterances.talk, utterances.talk, utterances.whisper, utterances.shout, utterances.pop),
        "cups": (tableware.put_down, tableware.clink, tableware.dishes, tableware.scrape_plate, tableware.stir),
        "chairs": (furniture.chair_scrape, furniture.creak, furniture.chair_down, furniture.footsteps),
        "doors": (furniture.door, furniture.drawer, furniture.dropped),
        "keys": (small_things.keys, small_things.coins, small_things.zip_fastener),
        "typing": (small_things.typing, small_things.switch),
        "others": (
            small_things.cards,
            small_things.crackle,
            small_things.page,
            backgrounds.wind,
            backgrounds.phone,
            backgrounds.vibration,
            backgrounds.music,
            backgrounds.television,
            backgrounds.dog_bark,
            backgrounds.dripping,
            backgrounds.beats,
            backgrounds.handling,
        ),
    }
)
"""Models of each group. A model that occurs twice is drawn twice as often."""


def _draw(models: tuple[Model, ...], rng: np.random.Generator) -> Waveform:
    """Return a random sound of a group."""
    return models[int(rng.integers(len(models)))](rng)


EVERYDAY: Mapping[str, Model] = MappingProxyType({group: partial(_draw, models) for group, models in GROUPS.items()})
"""One model for each group, which draws a random sound of it."""
