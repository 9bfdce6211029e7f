"""Lenses of Raspberry Pi cameras, so that a table can be used before its lens is measured.

Angles and focal lengths are those of the table "Hardware specification" on the page "Camera" of Raspberry Pi's
documentation. They say nothing of distortion, and single cameras differ by a few percent: measuring is better.
"""

from __future__ import annotations

import math
from enum import StrEnum

# Of the HQ camera only the sensor is fixed, 6.287 mm wide; two lenses are sold for it.
_HQ_WIDTH_MM = 6.287


class PiCamera(StrEnum):
    """A camera whose lens is known."""

    MODULE_2 = "module-2"
    MODULE_3 = "module-3"
    MODULE_3_WIDE = "module-3-wide"
    HQ_6_MM = "hq-6mm"
    HQ_16_MM = "hq-16mm"

    @property
    def width_rad(self) -> float:
        """Angle that it sees across, where a picture shows the whole width of its sensor.

        Modes that crop, such as 1920 x 1080 of the Camera Module 2, see less: there the lens must be measured.
        """
        return {
            PiCamera.MODULE_2: math.radians(62.2),
            PiCamera.MODULE_3: math.radians(66.0),
            PiCamera.MODULE_3_WIDE: math.radians(102.0),
            PiCamera.HQ_6_MM: 2 * math.atan(_HQ_WIDTH_MM / 2 / 6.0),
            PiCamera.HQ_16_MM: 2 * math.atan(_HQ_WIDTH_MM / 2 / 16.0),
        }[self]
