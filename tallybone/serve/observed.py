"""The two paths for what looks after tables: `/metrics` for Prometheus, `/health` for whoever asks yes or no."""

# Annotations are not put off here: FastAPI could not find the functions that are named in them.

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from fastapi import Response

from tallybone.finding import Grade
from tallybone.plain_text import plain
from tallybone.serve.health import Health
from tallybone.serve.metrics import Observed, families_of
from tallybone.serve.text_format import CONTENT_TYPE, as_text
from tallybone.web.app import AtRoot

_TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {CONTENT_TYPE: {"schema": {"type": "string"}}}}}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a table works; *reasons* say in plain words why not, and are empty where it does."""

    ok: bool
    version: str
    reasons: tuple[str, ...]


_NOT_WELL: dict[int | str, dict[str, Any]] = {503: {"model": Verdict, "description": "Something does not work"}}


def observed_routes(health: Callable[[], Health], observed: Callable[[Health], Observed]) -> AtRoot:
    """Return the paths, which need no PIN; what is asked may be called from any thread."""
    router = AtRoot()

    @router.get("/metrics", responses=_TEXT, response_class=Response)
    async def metrics() -> Response:
        """All numbers of the table, in the text format of Prometheus."""
        found = await asyncio.to_thread(health)
        return Response(as_text(families_of(observed(found))), headers={"content-type": CONTENT_TYPE})

    router.include_router(verdict_routes(lambda: verdict_of(health())))
    return router


def verdict_routes(verdict: Callable[[], Verdict]) -> AtRoot:
    """Return the path that says yes or no; *verdict* may be called from any thread."""
    router = AtRoot()

    @router.head("/health", include_in_schema=False)
    @router.get("/health", responses=_NOT_WELL)
    async def is_well(response: Response) -> Verdict:
        """Whether all works here: status 200 if it does, 503 and the reasons if not."""
        found = await asyncio.to_thread(verdict)
        response.status_code = 200 if found.ok else 503
        return found

    return router


def verdict_of(health: Health) -> Verdict:
    """Return whether a table works: it does as long as nothing is a problem."""
    return verdict_on(f"{one.part}: {one.words}" for one in health.findings if one.grade is Grade.PROBLEM)


def verdict_on(problems: Iterable[str]) -> Verdict:
    """Return that all works where there are no problems."""
    reasons = tuple(plain(words) for words in problems)
    return Verdict(not reasons, version("tallybone"), reasons)
