"""Bundle and serve the files of a page: few, compressed, and cached until the program changes.

A page is `index.html` with its styles and modules. For each language it is built once: one file with the modules and
the texts in that language, a second for views that few people open, and a third with the styles. Each address contains
a hash of the content, so browsers fetch a file only once. The page itself contains the current snapshot.

Each module keeps its own scope: ``export function make() {}`` in dom.js becomes ``$.dom = (() => { function make()
{} return { make }; })();``, and ``import { make } from "./dom.js";`` becomes ``const { make } = $.dom;``. Modules
reached only by ``import("./name.js")`` go to the second file. Comments on lines of their own are removed, because
they would be a fifth of the download.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketClose

from tallybone.texts import LANGUAGES, TextEntry, catalogue

_INDEX = "index.html"
_FIRST = "page.js"
_STYLES = "page.css"
_SCRIPT = re.compile(r'<script type="module" src="(\w+)\.js"></script>')
_STYLE = re.compile(r'[ \t]*<link rel="stylesheet" href="([\w.]+)">\n')
_LANGUAGE = '<html lang="en">'
_END = "</body>"
_TEXTS = "texts"
"""Name of the generated module with `code` (the language code) and `texts`."""
_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
_PLAIN_KINDS = {".svg": "image/svg+xml", ".png": "image/png", ".webmanifest": "application/manifest+json"}
"""Media types of files that are served as they are."""
_PACKED_HARD = 9

FirstSnapshot: TypeAlias = Callable[[str], str | None]
"""Function that returns the first snapshot as JSON in a language, or None before the first.

It runs in the page's thread.
"""
_COOKIE = "tallybone_language"
"""Cookie with a viewer's language, set by `static/say.js`."""
_A_YEAR = "public, max-age=31536000, immutable"
_PAGE = ("", "index.html")

LATER = "later.js"
"""Name of the second file."""
_IMPORT = re.compile(r'^import \{ (\w+(?:, \w+)*) \} from "\./(\w+)\.js";$', re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?:/\*\*.*?\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
_IMPORT_LATER = re.compile(r'\bimport\("\./(\w+)\.js"\)')
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export|await|const .* = await)\b.*$", re.MULTILINE)
Read = Callable[[str], str]
"""Returns the source of a module, given its name without `.js`."""


@dataclass(frozen=True)
class PageFile:
    """A file of the page. The content at its address never changes."""

    body: bytes
    kind: str

    @classmethod
    def of(cls, name: str, body: bytes) -> PageFile:
        """Return a file whose media type follows from the suffix of *name*."""
        return cls(body, (_KINDS | _PLAIN_KINDS)[Path(name).suffix])

    @cached_property
    def packed(self) -> bytes:
        """Content compressed with gzip, on first use."""
        return gzip.compress(self.body, _PACKED_HARD, mtime=0)


@dataclass(frozen=True, slots=True)
class LanguagePage:
    """A page in one language."""

    html: str
    files: Mapping[str, PageFile]

    def holding(self, snapshot: str | None) -> str:
        """Return the page with its first snapshot as JSON, or without one if it is None."""
        if snapshot is None:
            return self.html
        # In JSON, "<" occurs only in strings. Escaped, no player's name can close the script element.
        value = snapshot.replace("<", "\\u003c")
        before, end, after = self.html.rpartition(_END)
        return f'{before}<script type="application/json" id="first">{value}</script>\n{end}{after}'


class Pages:
    """The page in each language, built on first use."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Prepare the page from the files in *folders*. For files of the same name, earlier folders take precedence.

        Raises:
            JoiningError: If the modules cannot be joined.
        """
        self._sources = _sources(folders)
        self._html = self._text(_INDEX)
        self._made: dict[str, LanguagePage] = {}
        script = _SCRIPT.search(self._html)
        self._first = () if script is None else begun_with((script[1],), self._read, {_TEXTS})
        self._later = asked_for_later(self._first, self._read, {_TEXTS, *(module.name for module in self._first)})

    def page(self, language: str) -> LanguagePage:
        """Return the page in one of `LANGUAGES`."""
        if language not in self._made:
            self._made[language] = self._make(language)
        return self._made[language]

    def file(self, address: str) -> PageFile | None:
        """Return the file with an address in any language, or None."""
        found = (self.page(language).files.get(address) for language in LANGUAGES)
        return next((file for file in found if file is not None), None)

    def _read(self, name: str) -> str:
        return self._text(f"{name}.js")

    def _text(self, name: str) -> str:
        return self._sources[name].decode()

    def _make(self, language: str) -> LanguagePage:
        texts = catalogue(language)
        at_once = _texts_in(texts, self._html, self._first) if self._later else texts
        rest = {english: value for english, value in texts.items() if english not in at_once}
        given = f"$.{_TEXTS} = {_json({'code': language, 'texts': at_once})};"
        named = {name: body for name, body in self._sources.items() if Path(name).suffix in _PLAIN_KINDS}
        if self._first:
            named[_FIRST] = first_script(self._first, given).encode()
        if self._later:
            named[LATER] = later_script(
                self._later, _FIRST, f"Object.assign($.{_TEXTS}.texts, {_json(rest)});"
            ).encode()
        if styles := _STYLE.findall(self._html):
            named[_STYLES] = b"".join(self._sources[name] for name in styles)
        folder = hashlib.sha256(repr(sorted(named.items())).encode()).hexdigest()[:16]
        files = {f"{folder}/{name}": PageFile.of(name, body) for name, body in named.items()}
        return LanguagePage(_pointing_to(folder, self._html, language, named), files)


def _sources(folders: Iterable[Path]) -> dict[str, bytes]:
    """Return the content of the page's files in folders, by name. Links and other kinds of files are skipped."""
    found: dict[str, bytes] = {}
    for folder in folders:
        for path in folder.iterdir():
            if path.suffix in _KINDS | _PLAIN_KINDS and path.is_file() and not path.is_symlink():
                found.setdefault(path.name, path.read_bytes())
    return found


def _texts_in(texts: Mapping[str, TextEntry], html: str, modules: Iterable[Module]) -> dict[str, TextEntry]:
    """Return the entries of *texts* that the page or one of *modules* contains."""
    scripts, page = "\n".join(module.script for module in modules), unescape(html)
    return {
        english: value
        for english, value in texts.items()
        if json.dumps(english, ensure_ascii=False) in scripts or english in page
    }


def _pointing_to(folder: str, html: str, language: str, names: Iterable[str]) -> str:
    """Return the page with references to the joined files instead of their parts."""
    styles = iter((f'  <link rel="stylesheet" href="{folder}/{_STYLES}">\n',))
    html = _STYLE.sub(lambda _: next(styles, ""), html)
    html = _SCRIPT.sub(f'<script type="module" src="{folder}/{_FIRST}"></script>', html)
    for name in names:
        html = html.replace(f'href="{name}"', f'href="{folder}/{name}"')
    return html.replace(_LANGUAGE, f'<html lang="{language}">', 1)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class PageServed:
    """ASGI app that serves the page at `/` and its files."""

    def __init__(self, folders: Iterable[Path], language: Callable[[], str | None], snapshot: FirstSnapshot) -> None:
        """Serve the page from *folders*. *language* returns the table's language, *snapshot* the first snapshot."""
        self._pages, self._language, self._snapshot = Pages(folders), language, snapshot

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Reject a WebSocket.

        Raises:
            HTTPException: 404 for an unknown path, 405 for a method other than GET and HEAD.
        """
        if scope["type"] != "http":
            await WebSocketClose()(scope, receive, send)  # uvicorn would log an exception as an error of the page
            return
        request = Request(scope)
        if request.method not in ("GET", "HEAD"):
            raise HTTPException(405)
        await self._answer(request)(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        path = request.url.path.removeprefix("/")
        if path in _PAGE:
            language = language_for(request, self._language())
            # The page holds no secret, so compressing it together with names chosen by strangers is safe (BREACH).
            html = self._pages.page(language).holding(self._snapshot(language))
            return _sent(PageFile.of("index.html", html.encode()), request, {})
        if (file := self._pages.file(path)) is None:
            raise HTTPException(404)
        return _sent(file, request, {"cache-control": _A_YEAR})


def language_for(request: Request, of_table: str | None) -> str:
    """Return a viewer's language: the first available one of address, cookie, table and browser, else English."""
    wanted = (
        request.query_params.get("lang"),
        request.cookies.get(_COOKIE),
        of_table,
        *accepted(request.headers.get("accept-language", "")),
    )
    codes = ((code or "").lower().partition("-")[0] for code in wanted)
    return next((code for code in codes if code in LANGUAGES), LANGUAGES[0])


def accepted(header: str) -> list[str]:
    """Return the languages in an Accept-Language header, most preferred first.

    >>> accepted("de-DE, en;q=0.3, pt;q=0.5")
    ['de-DE', 'pt', 'en']
    """
    ranked = [_ranked(part) for part in header.split(",")]
    return [code for _, code in sorted(ranked, key=lambda one: -one[0])]


def _ranked(part: str) -> tuple[float, str]:
    code, _, value = part.partition(";")
    try:
        return float(value.strip().removeprefix("q=") or 1), code.strip()
    except ValueError:
        return 0.0, code.strip()


def _sent(file: PageFile, request: Request, headers: dict[str, str]) -> Response:
    headers = {"vary": "accept-encoding", **headers}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(file.packed, media_type=file.kind, headers={**headers, "content-encoding": "gzip"})
    return Response(file.body, media_type=file.kind, headers=headers)


class JoiningError(ValueError):
    """A module cannot be joined with others, or modules import each other in a cycle."""


@dataclass(frozen=True, slots=True)
class Module:
    """A JavaScript module."""

    name: str
    needs: tuple[str, ...]
    leads_to: tuple[str, ...]
    script: str


def module_of(name: str, source: str) -> Module:
    r"""Parse a module for joining.

    >>> print(module_of("end", 'import { pips } from "./tile.js";\nexport const END = pips(6);').script)
    $.end = (() => {
    const { pips } = $.tile;
    const END = pips(6);
    return { END };
    })();

    Raises:
        JoiningError: If the module uses an import, export or top-level await that is not supported.
    """
    source = _COMMENT.sub("", source)
    needs = tuple(found[1] for found in _IMPORT.findall(source))
    leads_to = tuple(_IMPORT_LATER.findall(source))
    exported = ", ".join(found[1] for found in _EXPORT.findall(source))
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(r"const { \1 } = $.\2;", source))
    if (other := _OTHER.search(body)) is not None:
        raise JoiningError(f"{name}.js: expected import {{ name }} from, import(), or export of a name: {other[0]}")
    body = _IMPORT_LATER.sub(rf'import("./{LATER}").then(() => $.\1)', body).rstrip()
    returned = f"\nreturn {{ {exported} }};" if exported else ""
    return Module(name, needs, leads_to, f"$.{name} = (() => {{\n{body}{returned}\n}})();")


def begun_with(names: Iterable[str], read: Read, known: Collection[str] = ()) -> tuple[Module, ...]:
    """Return modules and their static dependencies, dependencies first, without those in *known*.

    Raises:
        JoiningError: If modules import each other in a cycle.
    """
    ordered: dict[str, Module] = {}

    def take(name: str, way: tuple[str, ...]) -> None:
        if name in known or name in ordered:
            return
        if name in way:
            raise JoiningError(" needs ".join(f"{one}.js" for one in (*way[way.index(name) :], name)))
        module = module_of(name, read(name))
        for need in module.needs:
            take(need, (*way, name))
        ordered[name] = module

    for name in names:
        take(name, ())
    return tuple(ordered.values())


def asked_for_later(first: Iterable[Module], read: Read, known: Collection[str]) -> tuple[Module, ...]:
    """Return the modules that *first* import dynamically, and all that those import, without those in *known*."""
    found: dict[str, Module] = {}
    wanted = [name for module in first for name in module.leads_to]
    while wanted:
        more = begun_with(wanted, read, (*known, *found))
        found.update((module.name, module) for module in more)
        wanted = [name for module in more for name in module.leads_to]
    return tuple(found.values())


def first_script(modules: Iterable[Module], given: str) -> str:
    """Return the first file. The script *given* runs before all modules and can set values in `$`."""
    return "\n".join(("const $ = {};", given, *(module.script for module in modules), "export { $ };", ""))


def later_script(modules: Iterable[Module], first: str, given: str) -> str:
    """Return the second file, which imports `$` with the modules of the file named *first*."""
    return "\n".join((f'import {{ $ }} from "./{first}";', given, *(module.script for module in modules), ""))
