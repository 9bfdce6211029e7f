"""The path that says how the table is."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

from fastapi import APIRouter, Response

from tallybone.plain_text import plain
from tallybone.serve.health import Health
from tallybone.web.app import Language
from tallybone.web.snapshot import as_json


@dataclass(frozen=True, slots=True)
class FindingShown:
    """How a part is: *grade* is ok, warning, problem or "not there"; *mend* and *commands* say how to mend it."""

    part: str
    grade: str
    words: str
    mend: str
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HealthShown:
    """How the table is; *picture_age_s* is the age of the camera's last picture, null for none."""

    version: str
    picture_age_s: float | None
    findings: tuple[FindingShown, ...]


def health_routes(now: Callable[[], Health]) -> APIRouter:
    """Return the path; *now* may be called from any thread."""
    router = APIRouter()

    @router.get("/health", response_model=HealthShown)
    async def health(lang: Language = "en") -> Response:
        """How camera, parts, recordings and the computer are, as `tallybone doctor` says it."""
        found = await asyncio.to_thread(now)
        shown = tuple(
            FindingShown(plain(one.part), one.grade.value, plain(one.words), plain(one.mend), one.commands)
            for one in found.findings
        )
        now_shown = HealthShown(version("tallybone"), found.picture_age_s, shown)
        return Response(as_json(now_shown, lang), media_type="application/json")

    return router
