"""Load networks for OpenCV: small ONNX files that the package ships, each with its checksum."""

from __future__ import annotations

import hashlib
from importlib import resources
from pathlib import Path

import cv2

from vision.errors import ModelError

_CHECKSUM = ".sha256"


def load_network(path: Path | None, *, shipped: str) -> cv2.dnn.Net:
    """Return the network in a file, or the one that the package ships under a name.

    Its checksum has to lie beside it, as `write_checksum` writes it: OpenCV takes weights with flipped bits for others,
    and would read other pips in silence.

    Raises:
        ModelError: If the file is not a network, or not the one that was written.
    """
    folder = resources.files("vision").joinpath("models") if path is None else path.parent
    name = shipped if path is None else path.name
    source = folder.joinpath(name)
    # OpenCV 5 runs these networks in 0.7 of the time with the engine of OpenCV 4. For bytes, unlike files, it takes its
    # new one, whatever is asked for.
    engine = {"engine": cv2.dnn.ENGINE_CLASSIC} if hasattr(cv2.dnn, "ENGINE_CLASSIC") else {}
    try:
        wanted = folder.joinpath(name + _CHECKSUM).read_text(encoding="ascii").partition(" ")[0]
        came = _sha256(source.read_bytes())
        if came != wanted:
            raise ModelError(
                f"{source}: it is damaged: expected SHA-256 {wanted}, but got {came}; install Tallybone anew"
            )
        with resources.as_file(source) as file:
            return cv2.dnn.readNetFromONNX(str(file), **engine)
    except (OSError, UnicodeDecodeError, cv2.error) as error:
        raise ModelError(f"{source}: not a readable network ({error})") from error


def write_checksum(network: Path) -> None:
    """Write the checksum of a network beside it, as `sha256sum` does."""
    line = f"{_sha256(network.read_bytes())}  {network.name}\n"
    network.with_name(network.name + _CHECKSUM).write_text(line, encoding="ascii")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
