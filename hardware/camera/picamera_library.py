"""Import Picamera2 and open its cameras, with helpful error messages."""

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
    """Return the module picamera2, which apt installs together with a matching libcamera.

    Raises:
        CameraError: If it cannot be imported: missing, not visible from this virtual environment, incompatible with the
            installed numpy, or broken.
    """
    try:
        # Untyped, because it is only available on a Raspberry Pi.
        import picamera2 as module
    except (ImportError, ValueError, OSError) as error:
        raise CameraError(f"a camera of a Raspberry Pi needs {import_advice(error)}") from None
    return module


def import_advice(error: Exception, packages: Path = _SYSTEM_PACKAGES) -> str:
    """Return advice on a failed import. *packages* is the directory in which apt installs Python packages."""
    if isinstance(error, ValueError):  # "numpy.dtype size changed": Bookworm's packages are built for numpy 1
        return (
            f"compatible versions of picamera2 and numpy, but they are not ({error}). On Raspberry Pi OS 12 (Bookworm):"
            " pip install --upgrade simplejpeg, in this venv"
        )
    name = (getattr(error, "name", None) or "picamera2").partition(".")[0]
    package = {"libcamera": "python3-libcamera", "picamera2": APT_PACKAGE}.get(name)
    if package is None:
        return f"picamera2, which fails to start ({error}): sudo apt install --reinstall {APT_PACKAGE}"
    if (packages / name).exists() and sys.prefix != sys.base_prefix:
        return (
            f"{name}, which is installed but not visible to this venv: recreate it with"
            " python3 -m venv --system-site-packages .venv"
        )
    return f"{name}: sudo apt install {package}, and a venv made with --system-site-packages"


def open_picamera(library: Any, number: int) -> Any:
    """Open camera *number*, counted from 0, as a Picamera2.

    Raises:
        CameraError: If there is no such camera, another program is using it, memory for pictures cannot be allocated,
            or it cannot be opened for another reason.
    """
    name = f"pi:{number}"
    count = len(ribbon_cameras(library))
    if count == 0:  # some pipelines of libcamera do not list a camera that another program has started
        raise CameraError(
            f"{name}: there is no camera on this Pi's ribbon cables, or another program is using it: close rpicam-hello"
            " and any other tallybone, or power off and check both ends of the cable"
        )
    if number >= count:
        raise CameraError(
            f"{name}: there are {count} cameras, counted from 0, on this Pi's ribbon cables: power off and check both"
            " ends of the cable"
        )
    _require_memory(library, name)
    try:
        return library.Picamera2(number)
    except (RuntimeError, IndexError, OSError, AttributeError) as error:  # AttributeError: no raw pictures
        reasons = _chain(error)
        if any(word in reasons.lower() for word in _BUSY):
            raise CameraError(f"{name}: it is in use by another program (rpicam-hello, another tallybone?)") from error
        raise CameraError(f"{name}: it cannot be opened ({reasons})") from error


def _require_memory(library: Any, name: str) -> None:
    """Check that memory for pictures can be allocated.

    Picamera2 allocates it only after acquiring the camera, and does not release the camera if that fails.

    Raises:
        CameraError: If it cannot be allocated.
    """
    allocator = getattr(getattr(library, "allocators", None), "DmaAllocator", None)
    if allocator is None:  # older versions of picamera2
        return
    try:
        allocator()
    except (RuntimeError, OSError) as error:
        raise CameraError(
            f"{name}: no memory for its pictures ({error}): is the user in the group of the devices in"
            " /dev/dma_heap? `ls -l /dev/dma_heap` says which, and has to list linux,cma or vidbuf_cached"
        ) from error


def ribbon_cameras(library: Any) -> tuple[dict[str, Any], ...]:
    """Return the properties of each camera on a ribbon cable.

    USB cameras, which libcamera lists after these, are left out.

    Raises:
        CameraError: If libcamera does not start.
    """
    try:
        listed = library.Picamera2.global_camera_info()
    except (RuntimeError, OSError) as error:
        raise CameraError(f"libcamera does not start ({error})") from error
    return tuple(info for info in listed if "/usb" not in str(info.get("Id", "")))


def _chain(error: BaseException) -> str:
    """Return the messages of an error and of its causes, in which picamera2 hides the reason."""
    messages = []
    cause: BaseException | None = error
    while cause is not None:
        messages.append(str(cause))
        cause = cause.__cause__ or cause.__context__
    return ", because ".join(messages)
