"""HTTP routes for admitting another phone by a QR code."""

# No "from __future__ import annotations" here: FastAPI must resolve the annotations at run time.

from dataclasses import dataclass
from typing import Annotated

import cv2
import numpy as np
from fastapi import APIRouter, Body, Depends, Request, Response
from pydantic import StringConstraints

from tallybone.web.access import CODE_LASTS_S, Access, Author, come_in_by_code, insider_by
from tallybone.web.actions import StrictModel
from tallybone.web.serving import Address


class Pair(StrictModel):
    """A scanned code, and the name of the person."""

    code: Annotated[str, StringConstraints(max_length=40)]
    name: Annotated[str, StringConstraints(max_length=200)] = ""


@dataclass(frozen=True, slots=True)
class PairingShown:
    """A QR code: its URL, its rows ("1" is dark), and its validity in seconds."""

    address: str
    rows: tuple[str, ...]
    lasts_s: int


@dataclass(frozen=True, slots=True)
class AddressShown:
    """URL of the page for phones and its QR code. Null and empty if phones cannot reach it.

    *is_closed* is true if the page is served to its own machine only, at *port*.
    """

    url: str | None
    rows: tuple[str, ...]
    is_closed: bool
    port: int


def pairing_routes(access: Access, address: Address) -> APIRouter:
    """Return the routes of pairing, and of the *address* of the page."""
    router = APIRouter()
    insider = insider_by(access)

    @router.get("/address")
    async def address_now() -> AddressShown:
        """Current URL of the page for phones in the same network, and its QR code."""
        url = None if address.is_closed or address.is_alone else address.url
        return AddressShown(url, () if url is None else qr_rows(f"{url}/"), address.is_closed, address.port)

    @router.post("/pairing")
    async def pairing(author: Annotated[Author, Depends(insider)]) -> PairingShown:
        """Create a code that admits one device once. It is in the URL fragment, which is never sent to a server."""
        url = f"{address.url}/#pair/{access.new_code()}"
        return PairingShown(url, qr_rows(url), CODE_LASTS_S)

    @router.post("/pair", status_code=204)
    async def pair(body: Annotated[Pair, Body()], request: Request) -> Response:
        """Enter with a code."""
        return come_in_by_code(request, access, body.code, body.name)

    return router


def qr_rows(text: str) -> tuple[str, ...]:
    """Return the rows of a QR code, "1" for a dark module, without the quiet zone of four modules.

    >>> len(qr_rows("http://192.168.1.5:8080/")) == len(qr_rows("http://192.168.1.5:8080/")[0])
    True
    """
    dark = np.asarray(cv2.QRCodeEncoder.create().encode(text)) == 0
    rows, columns = np.flatnonzero(dark.any(axis=1)), np.flatnonzero(dark.any(axis=0))
    inner = dark[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    return tuple("".join("1" if is_dark else "0" for is_dark in row) for row in inner)
