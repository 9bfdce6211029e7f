"""Draws docs/wiring-*.svg again: python -m docs.wiring_drawings, in the folder of the project."""

from __future__ import annotations

from docs.wiring_drawings.drawings import FOLDER, drawings

for name, sheet in drawings().items():
    (FOLDER / name).write_text(sheet.svg(), encoding="utf-8")
