"""How the tiles of a sitting were read where they had been learned, so that a replay reads them the same way."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tallybone.json_values import from_json, to_json


@dataclass(frozen=True, slots=True)
class RecordedSet:
    """What was learned of a set of tiles, without the tiles.

    Attributes:
        max_pips: Its highest number, 6 to 18.
        eye: Which network and heads the weights belong to; with others they mean nothing.
        weights: Of `vision.own_set.OwnSet`, as float16 in base64, row by row.
        believed: How far the shipped head counts beside them, 0 to 1.
    """

    max_pips: int
    eye: str
    weights: str
    believed: float

    def format(self) -> str:
        """Return it as JSON.

        >>> RecordedSet(6, "a1", "AAAA", 0.6).format()
        '{"max_pips": 6, "eye": "a1", "weights": "AAAA", "believed": 0.6}'
        """
        return json.dumps(to_json(self, RecordedSet))

    @classmethod
    def parse(cls, text: str) -> RecordedSet:
        """Return what `format` has written.

        Raises:
            ValueError: If it is damaged.
        """
        return from_json(json.loads(text), cls)
