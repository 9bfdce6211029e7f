"""Hands a page and its files to browsers: the page anew each time, in the language of who asks, its files once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tallybone.texts import LANGUAGES
from tallybone.web.page_files import PageFile, Pages

Snapshot: TypeAlias = Callable[[str], str | None]
"""Returns what a page shows first, as JSON in a language; None for nothing. It is called in the page's thread."""

_COOKIE = "tallybone_language"
"""What somebody has chosen; `static/say.js` writes it."""
_A_YEAR = "public, max-age=31536000, immutable"
_PAGE = ("", "index.html")


class PageServed:
    """The page at `/`, with its files beside it."""

    def __init__(self, folders: Iterable[Path], language: Callable[[], str | None], snapshot: Snapshot) -> None:
        """Serve the page of *folders*; *language* says that of the table, *snapshot* what is shown first."""
        self._pages, self._language, self._snapshot = Pages(folders), language, snapshot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request.

        Raises:
            HTTPException: If nothing is there, or something else is wanted than to read it.
        """
        if scope["type"] != "http":
            raise HTTPException(404)
        request = Request(scope)
        if request.method not in ("GET", "HEAD"):
            raise HTTPException(405)
        await self._answer(request)(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        path = request.url.path.removeprefix("/")
        if path in _PAGE:
            language = language_for(request, self._language())
            # Nothing secret is in it, so that it may be packed with what a stranger calls himself.
            html = self._pages.page(language).holding(self._snapshot(language))
            return _sent(PageFile.of("index.html", html), request, {})
        if (file := self._pages.file(path)) is None:
            raise HTTPException(404)
        return _sent(file, request, {"cache-control": _A_YEAR})


def language_for(request: Request, of_table: str | None) -> str:
    """Return in which language somebody reads: that of the address, else his own choice, the table's, his browser's."""
    wanted = (
        request.query_params.get("lang"),
        request.cookies.get(_COOKIE),
        of_table,
        *accepted(request.headers.get("accept-language", "")),
    )
    codes = ((code or "").lower().partition("-")[0] for code in wanted)
    return next((code for code in codes if code in LANGUAGES), LANGUAGES[0])


def accepted(header: str) -> list[str]:
    """Return the languages that a browser asks for, the dearest first.

    >>> accepted("de-DE, en;q=0.3, pt;q=0.5")
    ['de-DE', 'pt', 'en']
    """
    ranked = [_ranked(part) for part in header.split(",")]
    return [code for _, code in sorted(ranked, key=lambda one: -one[0])]


def _ranked(part: str) -> tuple[float, str]:
    code, _, said = part.partition(";")
    try:
        return float(said.strip().removeprefix("q=") or 1), code.strip()
    except ValueError:
        return 0.0, code.strip()


def _sent(file: PageFile, request: Request, headers: dict[str, str]) -> Response:
    headers = {"vary": "accept-encoding", **headers}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, media_type=file.kind, headers={**headers, "content-encoding": "gzip"})
    return Response(file.body, media_type=file.kind, headers=headers)
