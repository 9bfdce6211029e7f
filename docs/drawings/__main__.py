"""Draw all pictures of docs/ again: python -m docs.drawings, in the folder of the project."""

from __future__ import annotations

import cv2

from docs.drawings.icons import STATIC, icons
from docs.drawings.rooms import rooms_sheet
from docs.drawings.wiring import FOLDER, drawings

for name, sheet in {**drawings(), "rooms.svg": rooms_sheet()}.items():
    (FOLDER / name).write_text(sheet.svg(), encoding="utf-8")
for name, icon in icons().items():
    cv2.imwrite(str(STATIC / name), icon, (cv2.IMWRITE_PNG_COMPRESSION, 9))
