"""A reading as a line of JSON: the contract of `tallybone read --json`."""

from __future__ import annotations

import json

from vision.reading import Contact, Guess, Half, PointPx, Reading, Tile


def format_reading(path: str, reading: Reading, *, read_ms: float) -> str:
    """Return one line of JSON, without a line end.

    Args:
        path: The picture, as it was named to the command.
        reading: What was read from it.
        read_ms: How long that took.

    >>> format_reading("table.jpg", Reading(640, 480, (), ()), read_ms=12.345)
    '{"path": "table.jpg", "width": 640, "height": 480, "tiles": [], "joins": [], "contacts": [], "ms": 12.3}'
    """
    line = {
        "path": path,
        "width": reading.width_px,
        "height": reading.height_px,
        "tiles": [_tile(tile) for tile in reading.tiles],
        "joins": [_contact(join) for join in reading.joins],
        "contacts": [_contact(contact) for contact in reading.contacts],
        "ms": round(read_ms, 1),
    }
    return json.dumps(line, allow_nan=False)


def _tile(tile: Tile) -> dict[str, object]:
    known: dict[str, object] = {"face": tile.face.value, "corners_px": [_point(corner) for corner in tile.corners_px]}
    if tile.halves:
        known["halves"] = [_half(half) for half in tile.halves]
    return known


def _half(half: Half) -> dict[str, object]:
    known: dict[str, object] = {**_guess(Guess(half.pips, half.confidence)), "center_px": _point(half.center_px)}
    if half.second is not None:
        known["second"] = _guess(half.second)
    if half.alone.pips != half.pips:
        known["alone"] = _guess(half.alone)
    return known


def _guess(guess: Guess) -> dict[str, float]:
    return {"pips": guess.pips, "confidence": round(guess.confidence, 4)}


def _contact(contact: Contact) -> dict[str, int | None]:
    return {"a": contact.a, "a_half": contact.a_half, "b": contact.b, "b_half": contact.b_half}


def _point(point_px: PointPx) -> list[float]:
    return [round(value, 1) + 0.0 for value in point_px]  # + 0.0: never "-0.0"
