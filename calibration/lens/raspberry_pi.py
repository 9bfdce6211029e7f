"""Nominal lenses of Raspberry Pi cameras, for use before the lens is measured.

Angles and focal lengths are from the table "Hardware specification" on the page "Camera" of Raspberry Pi's
documentation. They do not include distortion, and individual cameras deviate by a few percent.
"""

from __future__ import annotations

import math
from enum import StrEnum

# Sensor width of the HQ camera, which is sold with two lenses.
_HQ_WIDTH_MM = 6.287


class PiCamera(StrEnum):
    """A camera with a known lens."""

    MODULE_2 = "module-2"
    MODULE_3 = "module-3"
    MODULE_3_WIDE = "module-3-wide"
    HQ_6_MM = "hq-6mm"
    HQ_16_MM = "hq-16mm"

    @property
    def width_rad(self) -> float:
        """Horizontal angle of view for pictures of the full width of the sensor.

        Cropping modes, such as 1920 x 1080 of the Camera Module 2, have a smaller angle. Their lens must be measured.
        """
        return {
            PiCamera.MODULE_2: math.radians(62.2),
            PiCamera.MODULE_3: math.radians(66.0),
            PiCamera.MODULE_3_WIDE: math.radians(102.0),
            PiCamera.HQ_6_MM: 2 * math.atan(_HQ_WIDTH_MM / 2 / 6.0),
            PiCamera.HQ_16_MM: 2 * math.atan(_HQ_WIDTH_MM / 2 / 16.0),
        }[self]
