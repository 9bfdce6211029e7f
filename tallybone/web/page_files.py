"""The files of a page as browsers get them: few, packed, and kept until the program is another one.

A page is `index.html` with its styles and modules. It is made once for each language: the modules joined to one file
with the texts in that language, another one for what few people open, and the styles to one. Their address holds a
hash of them, so that a browser never asks twice. The page itself holds how the table stands at that moment.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from pathlib import Path

from tallybone.texts import LANGUAGES, Said, catalogue
from tallybone.web.joining import LATER, Module, asked_for_later, begun_with, first_script, later_script

_INDEX = "index.html"
_FIRST, _STYLES = "page.js", "page.css"
_SCRIPT = re.compile(r'<script type="module" src="(\w+)\.js"></script>')
_STYLE = re.compile(r'[ \t]*<link rel="stylesheet" href="([\w.]+)">\n')
_LANGUAGE = '<html lang="en">'
_END = "</body>"
_TEXTS = "texts"
"""The module that is made here: `code` of the language, and `texts`."""
_KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_PACKED_HARD = 9


@dataclass(frozen=True)
class PageFile:
    """A file of the page that never changes under its address.

    Attributes:
        body: What is in it.
        kind: What it is, for a browser.
    """

    body: bytes
    kind: str

    @classmethod
    def of(cls, name: str, text: str) -> PageFile:
        """Return the file with a name; its ending says what it is."""
        return cls(text.encode(), _KINDS[Path(name).suffix])

    @cached_property
    def packed(self) -> bytes:
        """It as gzip, worked out when it is wanted first."""
        return gzip.compress(self.body, _PACKED_HARD, mtime=0)


@dataclass(frozen=True, slots=True)
class Page:
    """A page in one language.

    Attributes:
        html: The page, before it holds how the table stands.
        files: All that it needs, by address.
    """

    html: str
    files: Mapping[str, PageFile]

    def holding(self, snapshot: str | None) -> str:
        """Return the page with what it shows first, as JSON; None for nothing yet."""
        if snapshot is None:
            return self.html
        # In JSON, < only ever stands in texts: no name can end the element that it stands in.
        said = snapshot.replace("<", "\\u003c")
        before, end, after = self.html.rpartition(_END)
        return f'{before}<script type="application/json" id="first">{said}</script>\n{end}{after}'


class Pages:
    """The page in each language, made when somebody reads it first."""

    def __init__(self, folders: Iterable[Path]) -> None:
        """Make it of the files of *folders*; the first that has a file gives it.

        Raises:
            JoiningError: If its modules cannot be joined.
        """
        self._sources = _sources(folders)
        self._html = self._sources[_INDEX]
        self._made: dict[str, Page] = {}
        script = _SCRIPT.search(self._html)
        self._first = () if script is None else begun_with((script[1],), self._read, {_TEXTS})
        self._later = asked_for_later(self._first, self._read, {_TEXTS, *(module.name for module in self._first)})

    def page(self, language: str) -> Page:
        """Return it in one of `LANGUAGES`."""
        if language not in self._made:
            self._made[language] = self._make(language)
        return self._made[language]

    def file(self, address: str) -> PageFile | None:
        """Return the file with an address, of whichever language; None for none."""
        found = (self.page(language).files.get(address) for language in LANGUAGES)
        return next((file for file in found if file is not None), None)

    def _read(self, name: str) -> str:
        return self._sources[f"{name}.js"]

    def _make(self, language: str) -> Page:
        texts = catalogue(language)
        at_once = _texts_in(texts, self._html, self._first) if self._later else texts
        rest = {english: said for english, said in texts.items() if english not in at_once}
        given = f"$.{_TEXTS} = {_json({'code': language, 'texts': at_once})};"
        named = {name: text for name, text in self._sources.items() if name.endswith(".svg")}
        if self._first:
            named[_FIRST] = first_script(self._first, given)
        if self._later:
            named[LATER] = later_script(self._later, _FIRST, f"Object.assign($.{_TEXTS}.texts, {_json(rest)});")
        if styles := _STYLE.findall(self._html):
            named[_STYLES] = "".join(self._sources[name] for name in styles)
        folder = hashlib.sha256(_json(named).encode()).hexdigest()[:16]
        files = {f"{folder}/{name}": PageFile.of(name, text) for name, text in named.items()}
        return Page(_pointing_to(folder, self._html, language, named), files)


def _sources(folders: Iterable[Path]) -> dict[str, str]:
    """Return what the files of folders say, by name; a link is none of them, wherever it leads."""
    found: dict[str, str] = {}
    for folder in folders:
        for path in folder.iterdir():
            if path.suffix in _KINDS and path.is_file() and not path.is_symlink():
                found.setdefault(path.name, path.read_text("utf-8"))
    return found


def _texts_in(texts: Mapping[str, Said], html: str, modules: Iterable[Module]) -> dict[str, Said]:
    """Return the texts that the page or one of these modules says."""
    scripts, page = "\n".join(module.script for module in modules), unescape(html)
    return {
        english: said
        for english, said in texts.items()
        if json.dumps(english, ensure_ascii=False) in scripts or english in page
    }


def _pointing_to(folder: str, html: str, language: str, names: Iterable[str]) -> str:
    """Return the page with the joined files in place of their parts."""
    styles = iter((f'  <link rel="stylesheet" href="{folder}/{_STYLES}">\n',))
    html = _STYLE.sub(lambda _: next(styles, ""), html)
    html = _SCRIPT.sub(f'<script type="module" src="{folder}/{_FIRST}"></script>', html)
    for name in names:
        html = html.replace(f'href="{name}"', f'href="{folder}/{name}"')
    return html.replace(_LANGUAGE, f'<html lang="{language}">', 1)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
