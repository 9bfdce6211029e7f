"""A single hand as one HTML file that needs nothing else: it opens from a disk, and steps through the plays."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from tallybone.web.recordings_shown import MomentShown, StepShown

STATIC = Path(__file__).with_name("static")
MOST_BYTES = 2_000_000
"""A file is never larger: pictures that would make it so are left out."""
MOST_STEPS = 400
_MODULES = ("dom.js", "pips.js", "tile.js", "felt.js", "hand.js")
_STYLES = ("table.css", "hand.css")
_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=function|const|class)", re.MULTILINE)
# What felt.js says of a tile is English here: the file has no table to ask for its texts.
_SAY = "const say = (english, values = {}) => english.replace(/\\{(\\w+)\\}/g, (hole, name) => values[name] ?? hole);\n"
_WIDTHS_PX, _QUALITY = (480, 320), 60


def shared_hand(
    title: str, steps: Sequence[StepShown], moments: Sequence[MomentShown], jpegs: Sequence[bytes | None]
) -> bytes:
    """Return the file.

    Args:
        title: What stands above it.
        steps: What happened in the hand.
        moments: How the table stood after each step.
        jpegs: The picture of each step, None for none; they are made small, and left out where they are too many.
    """
    told = [{"step": asdict(step), **_shown(moment)} for step, moment in zip(steps, moments, strict=True)]
    script, style = script_of(STATIC), "\n".join((STATIC / name).read_text("utf-8") for name in _STYLES)
    room = MOST_BYTES - len(script) - len(style) - 2 * len(json.dumps(told)) - 10_000
    data = {"title": title, "steps": told, "pictures": _pictures(jpegs, room)}
    return _page(title, script, style, data).encode("utf-8")


def script_of(static: Path) -> str:
    """Return the script of the file: modules of the page one after the other, those that it needs and no more."""
    texts = [_EXPORT.sub("", _IMPORT.sub("", (static / name).read_text("utf-8"))) for name in _MODULES]
    return "\n".join(("'use strict';", _SAY, *texts))


def _shown(moment: MomentShown) -> dict[str, Any]:
    players = [{"name": one.name, "total": one.total, "turn": one.turn} for one in moment.players]
    layout = asdict(moment.layout)
    return {"players": players, "layout": {name: layout[name] for name in ("tiles", "ends", "waiting")}}


def _page(title: str, script: str, style: str, data: dict[str, Any]) -> str:
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src 'sha256-{_hash(script)}'",
            f"style-src 'sha256-{_hash(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    # In JSON, < only ever stands in texts: no name can end the element that it stands in.
    said = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    return (
        "<!doctype html>\n"
        '<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>{style}</style></head>\n"
        '<body><main id="hand"></main>\n'
        "<noscript><p>This file needs JavaScript to step through the plays.</p></noscript>\n"
        f'<script type="application/json" id="told">{said}</script>\n'
        f"<script>{script}</script>\n"
        "</body></html>\n"
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _pictures(jpegs: Sequence[bytes | None], room_bytes: int) -> list[str | None]:
    """Return small pictures as data URLs, as large as there is room for; None where there is none."""
    for width_px in _WIDTHS_PX:
        urls = [None if jpeg is None else _url(jpeg, width_px) for jpeg in jpegs]
        if sum(len(url) for url in urls if url is not None) <= room_bytes:
            return urls
    return [None] * len(jpegs)


def _url(jpeg: bytes, width_px: int) -> str | None:
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_REDUCED_COLOR_2) if jpeg else None
    if image is None:
        return None
    height, width = image.shape[:2]
    size = (width_px, max(1, min(4 * width_px, round(height * width_px / width))))
    small = cv2.resize(image, size, interpolation=cv2.INTER_AREA)
    made = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])[1].tobytes()
    return f"data:image/jpeg;base64,{base64.b64encode(made).decode('ascii')}"
