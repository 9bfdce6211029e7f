"""Networks as OpenCV runs them: small ONNX files that the package ships."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import cv2
import numpy as np

from vision.errors import ModelError


def load_network(path: Path | None, *, shipped: str) -> cv2.dnn.Net:
    """Return the network in a file, or the one that the package ships under a name.

    Raises:
        ModelError: If the file is not a network.
    """
    source = path if path is not None else resources.files("vision").joinpath("models", shipped)
    # OpenCV 5 has a second engine, which takes a third longer for these networks.
    engine = {"engine": cv2.dnn.ENGINE_CLASSIC} if hasattr(cv2.dnn, "ENGINE_CLASSIC") else {}
    try:
        return cv2.dnn.readNetFromONNX(np.frombuffer(source.read_bytes(), np.uint8), **engine)
    except (OSError, cv2.error) as error:
        raise ModelError(f"{source}: not a readable network ({error})") from error
