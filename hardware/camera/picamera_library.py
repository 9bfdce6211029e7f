"""Picamera2 and what can go wrong before it gives a picture, in words that say what to do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from hardware.camera.device import CameraError

PicameraLoader: TypeAlias = Callable[[], Any]
"""Returns the module picamera2. Raises CameraError if it cannot be used."""

APT_PACKAGE = "python3-picamera2"
_SYSTEM_PACKAGES = Path("/usr/lib/python3/dist-packages")
_BUSY = ("busy", "acquire", "in use", "requiring state available")


def picamera2() -> Any:
    """Return the module picamera2, which comes from apt with the libcamera it was built for.

    Raises:
        CameraError: If it is missing, is not seen by this venv, or does not go with its numpy.
    """
    try:
        # Not typed: it is on a Pi alone.
        import picamera2 as module
    except (ImportError, ValueError, OSError) as error:
        raise CameraError(f"a camera of a Raspberry Pi needs {missing_words(error)}") from None
    return module


def missing_words(error: Exception, packages: Path = _SYSTEM_PACKAGES) -> str:
    """Return what is to be done about a library that cannot be imported; *packages* is where apt puts them."""
    if isinstance(error, ValueError):  # numpy.dtype size changed: Bookworm's parts are built for numpy 1
        return (
            f"picamera2 and numpy to go together, and here they do not ({error}). On Raspberry Pi OS 12 (Bookworm):"
            " pip install --upgrade simplejpeg, in this venv"
        )
    name = (getattr(error, "name", None) or "picamera2").partition(".")[0]
    package = {"libcamera": "python3-libcamera", "picamera2": APT_PACKAGE}.get(name)
    if package is None:
        return f"picamera2, which does not start ({error}): sudo apt install --reinstall {APT_PACKAGE}"
    if (packages / name).exists() and sys.prefix != sys.base_prefix:
        return (
            f"{name}, which is installed but not seen by this venv: make it again with"
            " python3 -m venv --system-site-packages .venv"
        )
    return f"{name}: sudo apt install {package}, and a venv made with --system-site-packages"


def open_picamera(library: Any, number: int) -> Any:
    """Return camera *number*, counted from 0, as an open Picamera2.

    Raises:
        CameraError: If there is none of this number, or another program uses it.
    """
    name = f"pi:{number}"
    if number >= (count := len(found(library))):
        there = "there is no camera" if count == 0 else f"there are {count} cameras, counted from 0,"
        raise CameraError(f"{name}: {there} on this Pi's ribbon cables: is it pushed in on both ends, the power off?")
    _require_memory(library, name)
    try:
        return library.Picamera2(number)
    except (RuntimeError, IndexError, OSError) as error:
        why = _chain(error)
        if any(word in why.lower() for word in _BUSY):
            raise CameraError(f"{name}: it is in use by another program (rpicam-hello, another tallybone?)") from error
        raise CameraError(f"{name}: it cannot be opened ({why})") from error


def _require_memory(library: Any, name: str) -> None:
    """Refuse a camera for whose pictures there is no memory.

    Picamera2 looks for it last, and keeps the camera for good where there is none.

    Raises:
        CameraError: Then; it says what helps.
    """
    allocator = getattr(getattr(library, "allocators", None), "DmaAllocator", None)
    if allocator is None:  # an older one
        return
    try:
        allocator()
    except (RuntimeError, OSError) as error:
        raise CameraError(
            f"{name}: there is no memory for its pictures ({error}): is the user in the group of the devices in"
            " /dev/dma_heap? `ls -l /dev/dma_heap` says which, and has to list linux,cma or vidbuf_cached"
        ) from error


def found(library: Any) -> tuple[dict[str, Any], ...]:
    """Return what picamera2 says of each camera on a ribbon cable.

    libcamera lists USB cameras too, always after these; they are opened in another way.

    Raises:
        CameraError: If libcamera does not start.
    """
    try:
        listed = library.Picamera2.global_camera_info()
    except (RuntimeError, OSError) as error:
        raise CameraError(f"libcamera does not start ({error})") from error
    return tuple(info for info in listed if "/usb" not in str(info.get("Id", "")))


def _chain(error: BaseException) -> str:
    """Return what an error says, and what it says was its cause: picamera2 hides the reason there."""
    said = []
    cause: BaseException | None = error
    while cause is not None:
        said.append(str(cause))
        cause = cause.__cause__ or cause.__context__
    return ", because ".join(said)
