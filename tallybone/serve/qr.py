"""A text as a QR code: rows of dark and light squares, which a page draws."""

from __future__ import annotations

import cv2
import numpy as np

_DARK = 0


def qr_rows(text: str) -> tuple[str, ...]:
    """Return the rows of a QR code, "1" for a dark square, without the margin; a page leaves four squares around it.

    >>> len(qr_rows("http://192.168.1.5:8080/")) == len(qr_rows("http://192.168.1.5:8080/")[0])
    True
    """
    dark = np.asarray(cv2.QRCodeEncoder.create().encode(text)) == _DARK
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    inner = dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return tuple("".join("1" if one else "0" for one in row) for row in inner)
