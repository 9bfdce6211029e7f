"""Read and lock exposure and white balance of a Raspberry Pi camera."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

# Values of libcamera's enumerations, whose Python location depends on the version.
_AE_CONVERGED = 2
_AF_SCANNING = 1
_AF_MANUAL, _AF_CONTINUOUS = 0, 2
_AE_HIGHLIGHT = 1
_ADAPTING: Mapping[str, Any] = {
    # Otherwise a motorised lens stays in its last position.
    "AfMode": _AF_CONTINUOUS,
    # Keeps the brightest 2 % below white. Metering by the mean would overexpose white tiles on a dark table.
    "AeConstraintMode": _AE_HIGHLIGHT,
}

# Maximum relative change of a colour gain between settled pictures. White balance always fluctuates a little.
_SAME_GAIN = 0.02


@dataclass(frozen=True, slots=True)
class Exposure:
    """Exposure of a picture, from its metadata. None for values that are not reported.

    Attributes:
        exposure_us: Exposure time.
        gain: Analogue gain.
        colour_gains: Gains of red and blue relative to green.
        lens: Lens position in dioptres. None for a fixed lens.
        is_settled: Whether exposure and focus have converged.
    """

    exposure_us: int | None
    gain: float | None
    colour_gains: tuple[float, float] | None
    lens: float | None
    is_settled: bool | None

    def is_settled_after(self, before: Exposure | None) -> bool | None:
        """Return True if the camera has adapted and its colour gains match those of the previous picture.

        None if the camera does not report whether it has adapted, else False for a first picture. Gains that are not
        reported count as matching.
        """
        if self.is_settled is None or not self.is_settled:
            return self.is_settled
        if before is None:
            return False
        if self.colour_gains is None or before.colour_gains is None:
            return True
        pairs = zip(self.colour_gains, before.colour_gains, strict=True)
        return all(abs(gain - earlier) <= _SAME_GAIN * earlier for gain, earlier in pairs)


def metered(metadata: Mapping[str, Any]) -> Exposure:
    """Return the exposure from the metadata of a picture."""
    gains = metadata.get("ColourGains")
    return Exposure(
        exposure_us=metadata.get("ExposureTime"),
        gain=metadata.get("AnalogueGain"),
        colour_gains=None if gains is None else (float(gains[0]), float(gains[1])),
        lens=metadata.get("LensPosition"),
        is_settled=_is_settled(metadata),
    )


def held_controls(metered: Exposure, known: Set[str]) -> dict[str, Any]:
    """Return controls that lock a camera at *metered*, limited to *known*, the controls that it supports."""
    controls: dict[str, Any] = {
        "AeEnable": False,
        "ExposureTime": metered.exposure_us,
        "AnalogueGain": metered.gain,
        "AwbEnable": False,
        "ColourGains": metered.colour_gains,
    }
    if metered.lens is not None:
        controls |= {"AfMode": _AF_MANUAL, "LensPosition": metered.lens}
    return {name: value for name, value in controls.items() if value is not None and name in known}


def first_controls(known: Set[str]) -> dict[str, Any]:
    """Return the initial controls, limited to *known*: continuous autofocus, and metering that protects highlights."""
    return {name: value for name, value in _ADAPTING.items() if name in known}


def auto_controls(known: Set[str]) -> dict[str, Any]:
    """Return controls that let a camera adapt again. In picamera2 a value of 0 releases a locked control."""
    controls: dict[str, Any] = {"AeEnable": True, "ExposureTime": 0, "AnalogueGain": 0.0, "AwbEnable": True}
    return {name: value for name, value in controls.items() if name in known} | first_controls(known)


def _is_settled(metadata: Mapping[str, Any]) -> bool | None:
    """Return True if exposure and focus have converged, or None if not reported.

    Newer versions of libcamera report AeState, older ones AeLocked.
    """
    if "AeState" in metadata:
        is_exposed = metadata["AeState"] == _AE_CONVERGED
    elif "AeLocked" in metadata:
        is_exposed = bool(metadata["AeLocked"])
    else:
        return None
    return is_exposed and metadata.get("AfState") != _AF_SCANNING
