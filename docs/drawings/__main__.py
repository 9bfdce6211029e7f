"""Draw all pictures of docs/ again: python -m docs.drawings, in the folder of the project."""

from __future__ import annotations

from docs.drawings.rooms import rooms_sheet
from docs.drawings.wiring import FOLDER, drawings

for name, sheet in {**drawings(), "rooms.svg": rooms_sheet()}.items():
    (FOLDER / name).write_text(sheet.svg(), encoding="utf-8")
