"""Looks in flat colours that identify each pixel: red faces, blue sides, a green table and white pips."""

from __future__ import annotations

from dataclasses import replace

from lab.render.looks import CLASSIC
from lab.render.scene import MAX_PIPS, BarKind, LightLook, PipKind, TableKind, TableLook

RED = replace(
    CLASSIC,
    face_bgr=(0.0, 0.0, 200.0),
    back_bgr=(0.0, 0.0, 200.0),
    side_bgr=(200.0, 0.0, 0.0),
    base_bgr=(200.0, 0.0, 0.0),
    pip_bgr=((200.0, 200.0, 200.0),) * (MAX_PIPS + 1),
    pip_kind=PipKind.FLAT,
    bar_kind=BarKind.LINE,
    bar_bgr=(200.0, 200.0, 0.0),
    corner_radius_mm=0.5,
    bevel_depth=0.0,
    crease=0.0,
    mottle=0.0,
    gloss=0.0,
)
GREEN = TableLook(TableKind.PLAIN, (0.0, 200.0, 0.0), (0.0, 200.0, 0.0), (0.0, 0.0, 0.0), roughness=0.0, unevenness=0.0)
EVEN = LightLook(ambient=1.0, shadow=0.0, contact=0.0, gradient=0.0, spot=0.0)
