"""Read and lock exposure and white balance of a Raspberry Pi camera."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

# Numbers of libcamera's enumerations: its names for them are in other places in each version.
_AE_CONVERGED = 2
_AF_SCANNING = 1
_AF_MANUAL, _AF_CONTINUOUS = 0, 2
_AE_HIGHLIGHT = 1
_ADAPTING: Mapping[str, Any] = {
    # Left alone a camera with a motor stays where it was made to stand.
    "AfMode": _AF_CONTINUOUS,
    # By the mean alone a dark table would burn out white tiles on it; so the brightest fiftieth stays below white.
    "AeConstraintMode": _AE_HIGHLIGHT,
}

# White balance is never quite still.
_SAME_GAIN = 0.02


@dataclass(frozen=True, slots=True)
class Exposure:
    """The exposure of a picture, as its metadata have it.

    Attributes:
        exposure_us: Time that it was exposed for.
        gain: How much it was amplified.
        colour_gains: Red and blue against green.
        lens: Where the lens stood, in dioptres; None where it cannot move.
        is_settled: Whether the camera is content with that, None where it does not say.
    """

    exposure_us: int | None
    gain: float | None
    colour_gains: tuple[float, float] | None
    lens: float | None
    is_settled: bool | None

    def is_settled_after(self, before: Exposure | None) -> bool | None:
        """Return whether the camera adapts no more, compared with the picture before; None where it does not say."""
        if self.is_settled is None or not self.is_settled:
            return self.is_settled
        if before is None:
            return False
        if self.colour_gains is None or before.colour_gains is None:
            return True
        pairs = zip(self.colour_gains, before.colour_gains, strict=True)
        return all(abs(gain - earlier) <= _SAME_GAIN * earlier for gain, earlier in pairs)


def metered(metadata: Mapping[str, Any]) -> Exposure:
    """Return what the metadata of a picture say of its light."""
    gains = metadata.get("ColourGains")
    return Exposure(
        exposure_us=metadata.get("ExposureTime"),
        gain=metadata.get("AnalogueGain"),
        colour_gains=None if gains is None else (float(gains[0]), float(gains[1])),
        lens=metadata.get("LensPosition"),
        is_settled=_is_settled(metadata),
    )


def held_controls(metered: Exposure, known: Set[str]) -> dict[str, Any]:
    """Return what holds a camera as it is; *known* are the controls that it has."""
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
    """Return how a camera is to adapt, before its first picture; *known* are the controls that it has."""
    return {name: value for name, value in _ADAPTING.items() if name in known}


def auto_controls(known: Set[str]) -> dict[str, Any]:
    """Return what lets a camera adapt again; 0 is picamera2's way to say: no longer this one."""
    controls: dict[str, Any] = {"AeEnable": True, "ExposureTime": 0, "AnalogueGain": 0.0, "AwbEnable": True}
    return {name: value for name, value in controls.items() if name in known} | first_controls(known)


def _is_settled(metadata: Mapping[str, Any]) -> bool | None:
    """Return whether exposure and focus are found: newer versions of libcamera say AeState, older ones AeLocked."""
    if "AeState" in metadata:
        is_exposed = metadata["AeState"] == _AE_CONVERGED
    elif "AeLocked" in metadata:
        is_exposed = bool(metadata["AeLocked"])
    else:
        return None
    return is_exposed and metadata.get("AfState") != _AF_SCANNING
