"""Load ONNX networks and verify their checksums."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path

import cv2

from vision.errors import ModelError

_CHECKSUM = ".sha256"


def load_network(path: Path | None, *, shipped: str) -> cv2.dnn.Net:
    """Load a network from a file, or from the package.

    A checksum file, as written by `write_checksum`, must be beside the network. OpenCV does not notice damaged weights,
    so tiles would be misread silently.

    Args:
        path: ONNX file. None for the one in the package.
        shipped: Name of the file in the package.

    Raises:
        ModelError: If the file or its checksum is missing, or the file is damaged or not a network.
    """
    folder = resources.files("vision").joinpath("models") if path is None else path.parent
    name = shipped if path is None else path.name
    source = folder.joinpath(name)
    # In OpenCV 5 these networks take 0.7 of the time with the classic engine. It can only be selected for files: for
    # bytes OpenCV ignores the setting.
    engine = {"engine": cv2.dnn.ENGINE_CLASSIC} if hasattr(cv2.dnn, "ENGINE_CLASSIC") else {}
    try:
        expected = folder.joinpath(name + _CHECKSUM).read_text(encoding="ascii").partition(" ")[0]
        actual = _sha256(source.read_bytes())
        if actual != expected:
            raise ModelError(
                f"{source}: the file is damaged: expected SHA-256 {expected}, but got {actual}; reinstall Tallybone"
            )
        with resources.as_file(source) as file:
            return cv2.dnn.readNetFromONNX(str(file), **engine)
    except (OSError, UnicodeDecodeError, cv2.error) as error:
        raise ModelError(f"{source}: not a readable network ({error})") from error


def write_checksum(network: Path) -> None:
    """Write the checksum of a network to a file beside it, in the format of `sha256sum`."""
    line = f"{_sha256(network.read_bytes())}  {network.name}\n"
    network.with_name(network.name + _CHECKSUM).write_text(line, encoding="ascii")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
