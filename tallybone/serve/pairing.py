"""The paths of pairing: whoever is in shows a code, and who scans it is in too."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Body, Depends, Request, Response
from pydantic import BaseModel, ConfigDict, StringConstraints

from engine.phrases import phrase
from tallybone.serve.qr import qr_rows
from tallybone.web.access import CODE_LASTS_S, Access, Author, come_in, insider_by


class Pair(BaseModel):
    """A code that was scanned, and who scanned it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: Annotated[str, StringConstraints(max_length=40)]
    name: Annotated[str, StringConstraints(max_length=200)] = ""


@dataclass(frozen=True, slots=True)
class PairingShown:
    """A code to scan: its address, the rows of its squares ("1" is dark), and how long it lets one in."""

    address: str
    rows: tuple[str, ...]
    lasts_s: int


def pairing_routes(access: Access, url: Callable[[], str]) -> APIRouter:
    """Return the paths; *url* says where the page is."""
    router = APIRouter()
    insider = insider_by(access)

    @router.post("/pairing")
    async def pairing(author: Annotated[Author, Depends(insider)]) -> PairingShown:
        """Get a code that lets one more in, once. It stands behind the #, so that no server is ever sent it."""
        address = f"{url()}/#pair/{access.new_code()}"
        return PairingShown(address, qr_rows(address), CODE_LASTS_S)

    @router.post("/pair", status_code=204)
    async def pair(said: Annotated[Pair, Body()], request: Request) -> Response:
        """Come in with a code."""
        refused = phrase("this code was used, or is too old: have another one shown")
        return come_in(request, access, lambda address: access.try_code(said.code, said.name, address), refused)

    return router
