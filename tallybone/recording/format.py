"""What a recording says of its sitting, once, at its beginning."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from tallybone.recording.own_tiles import RecordedSet
from tallybone.session.zones import Zones

PROFILE = "tallybone"
"""What the header of a recording says, so that it is told from what others write."""

FORMAT_VERSION = "1"
METADATA_NAME = "tallybone.sitting"
_KEYS = ("format", "started_at", "players", "rules", "options", "set", "seed", "software")
_CRC = "crc32"  # MCAP covers chunks, but not metadata


class Pictures(StrEnum):
    """What the pictures of a sitting are, and so what follows them.

    `SETTLED`: on none does anything move; each is read. `MOVING`: every frame of a camera or a video; only those on
    which nothing moves any more are read.
    """

    SETTLED = "settled"
    MOVING = "moving"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStart:
    """What is known before the first picture.

    Attributes:
        started_at: The clock on the wall, with its zone; only ever shown, because such a clock jumps.
        players: By seat.
        rules: Name of the game, "free" for none.
        options: What is agreed otherwise, as names and values.
        tile_set: The set on the table, such as "double-6", or "auto".
        own_set: What was learned of that set, where the eye reads by it.
        seed: Of a simulated table.
        software: What wrote it, with its version.
        pictures: Whether they are a moving picture.
        zones: Where boneyard and open hands lie.
        in_play: Whether the first picture shows a game that goes on, instead of the empty table.
        continues: Name of the recording that this one goes on with; its first records say where that one was left.
        number: Its place among the recordings of its folder, from 1: what orders them; 0 where nobody has counted.
    """

    started_at: datetime
    players: tuple[str, ...] = ()
    rules: str = "free"
    options: tuple[tuple[str, str], ...] = ()
    tile_set: str = "auto"
    seed: int | None = None
    software: str = "tallybone"
    pictures: Pictures = Pictures.SETTLED
    zones: Zones = field(default_factory=Zones)
    in_play: bool = False
    continues: str | None = None
    own_set: RecordedSet | None = None
    number: int = 0

    def __post_init__(self) -> None:
        """Refuse a time that could be anywhere."""
        if self.started_at.tzinfo is None:
            raise ValueError(f"started_at needs a zone, got {self.started_at}")

    def format(self) -> dict[str, str]:
        """Return it as names and values, with a checksum over them."""
        values = (
            FORMAT_VERSION,
            self.started_at.isoformat(),
            json.dumps(self.players),
            self.rules,
            json.dumps(dict(self.options)),
            self.tile_set,
            "" if self.seed is None else str(self.seed),
            self.software,
        )
        said = dict(zip(_KEYS, values, strict=True))
        if self.pictures is not Pictures.SETTLED:  # nothing is said of those: so it was before there were others
            said["pictures"] = self.pictures.value
        if self.zones:
            said["zones"] = self.zones.format()
        if self.own_set is not None:
            said["own_set"] = self.own_set.format()
        if self.in_play:
            said["in_play"] = "yes"
        if self.continues is not None:
            said["continues"] = self.continues
        if self.number:
            said["number"] = str(self.number)
        return said | {_CRC: _checksum(said)}

    @classmethod
    def parse(cls, said: Mapping[str, str]) -> SessionStart:
        """Return what `format` has written.

        Raises:
            VersionError: If a later version wrote it.
            ValueError: If it is damaged.
        """
        rest = {name: value for name, value in said.items() if name != _CRC}
        if said.get(_CRC) != _checksum(rest):
            raise ValueError("its checksum does not fit")
        if rest.get("format") != FORMAT_VERSION:
            raise VersionError(f"it has format {rest.get('format')}; this version reads format {FORMAT_VERSION}")
        try:
            return cls._of(rest)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"it lacks {error}") from error

    @classmethod
    def _of(cls, rest: Mapping[str, str]) -> SessionStart:
        return cls(
            started_at=datetime.fromisoformat(rest["started_at"]),
            players=tuple(json.loads(rest["players"])),
            rules=rest["rules"],
            options=tuple(json.loads(rest["options"]).items()),
            tile_set=rest["set"],
            seed=int(rest["seed"]) if rest["seed"] else None,
            software=rest["software"],
            pictures=Pictures(rest.get("pictures", Pictures.SETTLED)),
            zones=Zones.parse(rest["zones"]) if "zones" in rest else Zones(),
            in_play=rest.get("in_play") == "yes",
            continues=rest.get("continues"),
            own_set=RecordedSet.parse(rest["own_set"]) if "own_set" in rest else None,
            number=int(rest.get("number", "0")),
        )


class VersionError(ValueError):
    """A recording is whole, but of another version."""


def _checksum(said: Mapping[str, str]) -> str:
    return f"{zlib.crc32(json.dumps(said, sort_keys=True).encode()):08x}"
