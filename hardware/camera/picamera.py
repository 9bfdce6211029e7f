"""A camera on the ribbon cable of a Raspberry Pi, read by Picamera2."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import cv2
import numpy as np

from hardware.camera import device

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
        raise device.CameraError(f"a camera of a Raspberry Pi needs {import_advice(error)}") from None
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
        raise device.CameraError(
            f"{name}: there is no camera on this Pi's ribbon cables, or another program is using it: close rpicam-hello"
            " and any other tallybone, or power off and check both ends of the cable"
        )
    if number >= count:
        raise device.CameraError(
            f"{name}: there are {count} cameras, counted from 0, on this Pi's ribbon cables: power off and check both"
            " ends of the cable"
        )
    _require_memory(library, name)
    try:
        return library.Picamera2(number)
    except (RuntimeError, IndexError, OSError, AttributeError) as error:  # AttributeError: no raw pictures
        # The messages of an error and of its causes, in which picamera2 hides the reason.
        messages = []
        cause: BaseException | None = error
        while cause is not None:
            messages.append(str(cause))
            cause = cause.__cause__ or cause.__context__
        reasons = ", because ".join(messages)
        if any(word in reasons.lower() for word in _BUSY):
            raise device.CameraError(
                f"{name}: it is in use by another program (rpicam-hello, another tallybone?)"
            ) from error
        raise device.CameraError(f"{name}: it cannot be opened ({reasons})") from error


def _require_memory(library: Any, name: str) -> None:
    """Check that memory for pictures can be allocated."""
    # Picamera2 allocates it only after acquiring the camera, and does not release the camera if that fails.
    allocator = getattr(getattr(library, "allocators", None), "DmaAllocator", None)
    if allocator is None:  # older versions of picamera2
        return
    try:
        allocator()
    except (RuntimeError, OSError) as error:
        raise device.CameraError(
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
        raise device.CameraError(f"libcamera does not start ({error})") from error
    return tuple(info for info in listed if "/usb" not in str(info.get("Id", "")))


# Values of libcamera's enumerations, whose Python location depends on the version.
_AE_CONVERGED = 2
_AF_SCANNING = 1
_AF_MANUAL = 0
_AF_CONTINUOUS = 2
_AE_HIGHLIGHT = 1
_ADAPTING: Mapping[str, Any] = {
    # Otherwise a motorised lens stays in its last position.
    "AfMode": _AF_CONTINUOUS,
    # Keeps the brightest 2 % below white. Metering by the mean would overexpose white tiles on a dark table.
    "AeConstraintMode": _AE_HIGHLIGHT,
}

# Exposure in multiples of the period of the light in microseconds, which is half that of the mains. 0 is off, 1 manual.
_FLICKER: Mapping[str | None, Mapping[str, int]] = {
    "off": {"AeFlickerMode": 0},
    "50": {"AeFlickerMode": 1, "AeFlickerPeriod": 10_000},
    "60": {"AeFlickerMode": 1, "AeFlickerPeriod": 8_333},
}
# Maximum relative change of a colour gain between settled pictures. White balance always fluctuates a little.
_SAME_GAIN = 0.02


@dataclass(frozen=True, slots=True)
class Exposure:
    """Exposure of a picture, from its metadata. None for values that are not reported.

    Attributes:
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


def first_controls(known: Set[str], mains: str | None = None) -> dict[str, Any]:
    """Return the initial controls, limited to *known*: continuous autofocus, and metering that protects highlights.

    *mains* is the mains frequency, "50", "60" or "off", or None to leave it.
    """
    return {name: value for name, value in {**_ADAPTING, **_FLICKER.get(mains, {})}.items() if name in known}


def auto_controls(known: Set[str]) -> dict[str, Any]:
    """Return controls that let a camera adapt again. In picamera2 a value of 0 releases a locked control."""
    controls: dict[str, Any] = {"AeEnable": True, "ExposureTime": 0, "AnalogueGain": 0.0, "AwbEnable": True}
    return {name: value for name, value in controls.items() if name in known} | first_controls(known)


def _is_settled(metadata: Mapping[str, Any]) -> bool | None:
    """Return True if exposure and focus have converged, or None if not reported."""
    # Newer versions of libcamera report AeState, older ones AeLocked.
    if "AeState" in metadata:
        is_exposed = metadata["AeState"] == _AE_CONVERGED
    elif "AeLocked" in metadata:
        is_exposed = bool(metadata["AeLocked"])
    else:
        return None
    return is_exposed and metadata.get("AfState") != _AF_SCANNING


# One buffer is exposed, one is queued and one is read. The fourth keeps the camera running if Python is late.
_BUFFERS = 4
# Time without a picture after which the camera counts as hung (picamera2 #794). Exposures here take up to 0.1 s.
_HANGS_S = 2.0
_NS_PER_US = 1_000
_US_PER_S = 1_000_000
# Conversions by libcamera's format. Its RGB888 needs none: it is blue, green, red in memory.
_TO_BGR = {"YUV420": cv2.COLOR_YUV2BGR_I420, "NV12": cv2.COLOR_YUV2BGR_NV12}


class PicameraFeed:
    """An open Picamera2 with a main stream and, if the camera has a second one, a small stream scaled without the CPU.

    Args:
        number: Number of the camera, from 0.
        request: Requested mode.
        clocks: Clocks for the timestamps of pictures.
        library: Returns the module picamera2.

    Raises:
        CameraError: If the camera cannot be opened.
    """

    def __init__(
        self, number: int, request: device.CameraRequest, clocks: device.Clocks, library: PicameraLoader = picamera2
    ) -> None:
        self._name, self._clocks = f"pi:{number}", clocks
        self._metered: Exposure | None = None
        self._held: Any = None
        self._grabbed: tuple[int, bool | None] = 0, None
        self._camera = open_picamera(library(), number)
        with contextlib.ExitStack() as cleanup:
            cleanup.callback(self.close)
            with self._camera_errors():
                self._begin(request)
            cleanup.pop_all()

    def grab(self) -> int:
        """Wait for a picture and return its time. Holds its buffer, and releases the previous one."""
        with self._camera_errors():
            self._release()
            self._held = self._request()
            metadata = self._held.get_metadata()
        before, self._metered = self._metered, metered(metadata)
        # The sensor's timestamp is the end of the exposure. Without it, the current time is used.
        t_ns, stamp_ns = self._clocks.game(), metadata.get("SensorTimestamp")
        if stamp_ns is not None:
            read_ns = self._clocks.game_ns(int(stamp_ns))
            exposed_ns = int(metadata.get("ExposureTime") or 0) * _NS_PER_US
            t_ns = (t_ns if read_ns is None else read_ns) - exposed_ns
        self._grabbed = t_ns, self._metered.is_settled_after(before)
        return t_ns

    def read(self) -> device.Picture:
        """Copy the grabbed picture and release its buffer."""
        if self._held is None:
            self.grab()
        t_ns, is_light_settled = self._grabbed
        with self._camera_errors():
            try:
                image, small = self._held.make_array("main"), None
                if self._small_px is not None:
                    width_px, height_px = self._small_px
                    small = np.ascontiguousarray(self._held.make_array("lores")[:height_px, :width_px])
            finally:
                self._release()
        if self._format != "RGB888":
            converted = cv2.cvtColor(image, _TO_BGR[self._format])
            image = np.ascontiguousarray(converted[: self.mode.height_px, : self.mode.width_px], np.uint8)
        return device.Picture(t_ns, image, device.reduced_to_grey(image) if small is None else small, is_light_settled)

    def hold_light(self) -> None:
        """Lock exposure, white balance and focus at the values of the last picture. Does nothing before the first."""
        if self._metered is not None:
            with self._camera_errors():
                self._camera.set_controls(held_controls(self._metered, self._known))

    def free_light(self) -> None:
        """Enable automatic exposure, white balance and focus."""
        with self._camera_errors():
            self._camera.set_controls(auto_controls(self._known))

    def close(self) -> None:
        """Release the camera. Cancels pending requests first, because closing would wait for them forever."""
        with contextlib.suppress(RuntimeError, OSError):
            self._release()
        with contextlib.suppress(RuntimeError, OSError):
            self._camera.cancel_all_and_flush()
        with contextlib.suppress(RuntimeError, OSError):
            self._camera.close()

    def _begin(self, request: device.CameraRequest) -> None:
        camera = self._camera
        self._known = frozenset(camera.camera_controls)
        controls = first_controls(self._known, request.mains)
        if "FrameDurationLimits" in self._known:
            frame_us = round(_US_PER_S / request.per_s)
            controls["FrameDurationLimits"] = (frame_us, frame_us)
        options = {
            "main": {"size": (request.width_px, request.height_px), "format": "RGB888"},
            "buffer_count": _BUFFERS,
            "controls": controls,
            "display": None,
            "encode": None,
            **self._whole_sensor(request),
        }
        try:
            camera.configure(
                camera.create_video_configuration(**options, lores={"size": device.SMALL_PX, "format": "YUV420"})
            )
        except AttributeError:
            # libcamera does not support two streams for this camera, and picamera2 fails on the missing configuration.
            camera.configure(camera.create_video_configuration(**options))
        main, small = camera.camera_configuration()["main"], camera.camera_configuration()["lores"]
        (width_px, height_px), self._format = main["size"], str(main["format"])
        if self._format != "RGB888" and self._format not in _TO_BGR:
            raise device.CameraError(f"{self._name}: expected pictures as RGB888, NV12 or YUV420, got {self._format}")
        self._small_px = None if small is None else small["size"]
        self.mode = device.CameraMode(width_px, height_px, request.per_s, self._format)
        camera.start()

    def _whole_sensor(self, request: device.CameraRequest) -> dict[str, Any]:
        """Return the sensor mode with the largest field of view, since picamera2's default may crop the table."""
        # Empty if no mode supports the request, or the camera has no sensor modes.
        if "ColorFilterArrangement" not in self._camera.camera_properties:
            return {}  # not a Raspberry Pi camera, so without sensor modes
        modes = [mode for mode in self._camera.sensor_modes if "crop_limits" in mode]
        fitting = [
            mode
            for mode in modes
            if mode["size"][0] >= request.width_px
            and mode["size"][1] >= request.height_px
            and mode["fps"] >= request.per_s
        ]
        if not fitting:
            return {}
        best = min(fitting, key=lambda mode: (-mode["crop_limits"][2] * mode["crop_limits"][3], mode["size"]))
        return {"sensor": {"output_size": best["size"], "bit_depth": best["bit_depth"]}}

    def _release(self) -> None:
        """Release the buffer of the grabbed picture, if it is held."""
        held, self._held = self._held, None
        if held is not None:
            held.release()

    def _request(self) -> Any:
        """Wait for a complete picture, which must be released."""
        job = self._camera.capture_request(wait=False)
        try:
            return self._camera.wait(job, timeout=_HANGS_S)
        except TimeoutError:
            raise device.CameraError(f"{self._name} sends no pictures: check its cable") from None

    @contextlib.contextmanager
    def _camera_errors(self) -> Iterator[None]:
        """Convert errors of picamera2 and libcamera to CameraError."""
        try:
            yield
        except device.CameraError:
            raise
        except (RuntimeError, ValueError, OSError, AttributeError) as error:
            raise device.CameraError(f"{self._name}: {error}") from error
