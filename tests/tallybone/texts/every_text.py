"""Extract the texts for users from the sources, and update the gettext catalogues: `make texts`."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import polib

from tallybone.hub.hall import OWN_STATIC
from tallybone.texts import LANGUAGES, catalogue_path
from tallybone.web.live.app import STATIC
from tallybone.web.live.games import games_shown
from vision.tracking import perception

ROOT = Path(__file__).parents[3]
PAGES = (*STATIC, OWN_STATIC)
_PACKAGES = ("engine", "calibration", "tallybone", "lab")
_STRING = r"(\"(?:[^\"\\]|\\.)*\")"
_CALL = re.compile(rf"\b(?:(?:say|later)\(\s*{_STRING}|plural\(\s*{_STRING},\s*{_STRING})")


class Text(NamedTuple):
    """A text in the sources: its English template, the template of the plural or "", and the source file."""

    key: str
    plural: str
    file: str


@cache
def every_text() -> tuple[Text, ...]:
    """Return all texts for users, in the order of their sources."""
    lost = (perception._LOST, perception._TOO_FAR)  # vision cannot import engine.phrases
    others = [Text(text, "", "vision/tracking/perception.py") for text in lost]
    others += [Text(text, "", "tallybone/web/live/games.py") for text in _in_rules()]
    return (*_in_programs(), *_in_scripts(), *_in_pages(), *others)


def template() -> polib.POFile:
    """Return the template of all catalogues, with an entry per text, sorted by text."""
    file, entries = polib.POFile(wrapwidth=120), dict[str, polib.POEntry]()
    file.metadata = {"MIME-Version": "1.0", "Content-Type": "text/plain; charset=utf-8"}
    for text in every_text():
        entry = entries.setdefault(text.key, polib.POEntry(msgid=text.key, msgid_plural=text.plural))
        assert entry.msgid_plural == text.plural, f"{text.file}: {text.key!r} has another plural elsewhere"
        if (text.file, "") not in entry.occurrences:
            entry.occurrences.append((text.file, ""))
    file.extend(entries[key] for key in sorted(entries))
    return file


def updated(language: str) -> polib.POFile:
    """Return a language's catalogue with the texts of the sources. Removed texts are dropped, new ones are empty."""
    file = polib.pofile(str(catalogue_path(language)), wrapwidth=120)
    file.merge(template())
    for entry in file.obsolete_entries():
        file.remove(entry)
    file.sort(key=lambda entry: entry.msgid)
    return file


def files(pattern: str) -> list[Path]:
    """Return the files of all pages that match *pattern*."""
    return sorted(path for folder in PAGES for path in folder.glob(pattern))


def _in_programs() -> Iterator[Text]:
    for package in _PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield from _in_program(path, str(path.relative_to(ROOT)))


def _in_program(path: Path, name: str) -> Iterator[Text]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("phrase", "plural"):
            keys = node.args[: 1 if node.func.id == "phrase" else 2]
            texts = [str(key.value) for key in keys if isinstance(key, ast.Constant)]
            if len(texts) == len(keys):
                yield Text(texts[0], "".join(texts[1:]), name)
            else:
                assert path.name == "phrases.py", f"{name}:{node.lineno}: not a literal, so it cannot be translated"


def _in_scripts() -> Iterator[Text]:
    for path in files("*.js"):
        for text, singular, many in _CALL.findall(path.read_text()):
            plural = json.loads(many) if many else ""
            yield Text(json.loads(text or singular), plural, str(path.relative_to(ROOT)))


def _in_pages() -> Iterator[Text]:
    for path in files("*.html"):
        reader = _Reader()
        reader.feed(path.read_text())
        yield from (Text(text, "", str(path.relative_to(ROOT))) for text in reader.found)


def _in_rules() -> Iterator[str]:
    """Yield the options and games of the form for a new match, which arrive in English."""
    offered = games_shown()
    for option in offered.options:
        yield from (option.group, option.meaning, *(choice.meaning for choice in option.choices))
        yield from () if option.none is None else (option.none,)
        yield from (option.allowed,) if option.kind in ("players", "deal") else ()
    for game in offered.games:
        yield from (game.game, game.what, *(variation.meaning for variation in game.variations))


class _Reader(HTMLParser):
    """Collects the texts of elements marked with `data-say` and of attributes named by `data-say-in`."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._is_marked = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self._is_marked = "data-say" in attributes
        self.found += [attributes[name] or "" for name in (attributes.get("data-say-in") or "").split()]

    def handle_data(self, data: str) -> None:
        if self._is_marked and data.strip():
            self.found.append(data)
        self._is_marked = False


if __name__ == "__main__":
    for code in LANGUAGES[1:]:
        po = updated(code)
        po.save()
        sys.stdout.write(f"{catalogue_path(code)}: {len(po)} texts, {len(po.untranslated_entries())} to translate\n")
