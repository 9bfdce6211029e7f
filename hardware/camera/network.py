"""Network cameras and phones (MJPEG over HTTP, RTSP), read by PyAV."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from hardware.camera.device import CameraError, CameraMode, CameraRequest, Clocks, Picture, reduced_to_grey
from hardware.libraries import install_command

ADDRESSES = ("http://", "https://", "rtsp://", "rtsps://")
"""Beginnings of the addresses of network cameras."""
_USER = re.compile(r"(?<=://)[^/]*@")
# Time to open a camera, and to wait for its next picture, in seconds. A phone needs about two seconds to open.
_OPENS_S = 8.0
_SILENT_S = 2.5


def without_user(text: str) -> str:
    """Return a camera setting without the user and password in its address, for messages and file names.

    >>> without_user("rtsp://ann:secret@10.0.0.7/live")
    'rtsp://10.0.0.7/live'
    """
    return _USER.sub("", text)


def require_av(address: str) -> Any:
    """Return the module av (PyAV), which reads the camera at *address*.

    Raises:
        CameraError: If it is not installed.
    """
    try:
        import av
    except ImportError:
        needed = f"a network camera needs av, which is not installed: {install_command('video')}"
        raise CameraError(f"{without_user(address)}: {needed}") from None
    return av


class NetworkFeed:
    """An open network camera. It adapts to the light by itself.

    Raises:
        CameraError: If the camera cannot be opened, or PyAV is not installed.
    """

    def __init__(self, address: str, clocks: Clocks) -> None:
        self._name, self._clocks = without_user(address), clocks
        av = require_av(address)
        self._errors = (av.FFmpegError, OSError, ValueError)
        # Over UDP, the default of RTSP, pictures arrive damaged on a busy wireless network.
        options = {"rtsp_transport": "tcp", "fflags": "nobuffer"}
        try:
            self._file: Any = av.open(address, options=options, timeout=(_OPENS_S, _SILENT_S))
        except self._errors as error:
            raise CameraError(f"{self._name}: it cannot be opened ({_reason(error)}): check the address") from None
        self._frames: Iterator[Any] = self._file.decode(video=0)
        try:
            frame = self._frame = self._next()
        except CameraError:
            self.close()
            raise
        stream = self._file.streams.video[0]
        rate, coding = stream.average_rate or CameraRequest().per_s, stream.codec_context.name
        self.mode = CameraMode(frame.width, frame.height, float(rate), coding)

    def grab(self) -> int:
        """Wait for a picture and return the time of its arrival."""
        self._frame = self._next()
        return self._clocks.game()

    def read(self) -> Picture:
        """Convert the grabbed picture. Grabs one first if the last one was already read."""
        frame, self._frame = self._next() if self._frame is None else self._frame, None
        image = np.ascontiguousarray(frame.to_ndarray(format="bgr24"), np.uint8)
        return Picture(self._clocks.game(), image, reduced_to_grey(image))

    def hold_light(self) -> None:
        """Do nothing: the camera has no such setting."""

    def free_light(self) -> None:
        """Do nothing: the camera has no such setting."""

    def close(self) -> None:
        """Close the connection."""
        self._file.close()

    def _next(self) -> Any:
        try:
            return next(self._frames)
        except (StopIteration, *self._errors) as error:
            raise CameraError(f"{self._name} stopped sending pictures ({_reason(error)}): check the camera") from None


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or "the stream has ended"
