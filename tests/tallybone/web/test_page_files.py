"""Tests of the page's files: joined modules, number, size, caching and language."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import cv2
import httpx
import numpy as np
import pytest

from docs.drawings.icons import icons
from tallybone.hub.hall import OWN_STATIC
from tallybone.texts import LANGUAGES, catalogue
from tallybone.web.access.files import (
    JoiningError,
    LanguagePage,
    Pages,
    asked_for_later,
    begun_with,
    first_script,
    later_script,
    module_of,
)
from tallybone.web.live.app import STATIC
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.true_table import TrueTable

ADDRESS = re.compile(r'(?:href|src)="([\w/.]+)"')
SOURCES = {
    "main": 'import { add } from "./sum.js";\nconst found = import("./far.js");\nconsole.log(add(1, 2));\n'
    "found.then(({ far }) => far(3)).then(console.log);\n",
    "sum": "// Adds.\n\n/**\n * Return a sum.\n */\nexport function add(one, other) {\n"
    '  return one + other; // "no" * 2\n}\n',
    "far": 'import { add } from "./sum.js";\nimport { TEN } from "./ten.js";\n'
    "const near = 4;\n\nexport async function far(steps) {\n  return add(await TEN, steps) + near;\n}\n",
    "ten": "export const TEN = Promise.resolve(10);\n",
}
EVIL = "</script><script>alert(1)</script><!--"


@pytest.fixture(name="table", scope="module")
def a_table() -> Iterator[TrueTable]:
    with at_table(players=("Ann", EVIL)) as table:
        table.play(8)
        yield table


@pytest.fixture(name="guest")
def guest_client(table: TrueTable) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=table.page.url) as client:
        yield client


def embedded_snapshot(client: httpx.Client) -> dict[str, object]:
    element = re.search(r'<script type="application/json" id="first">(.*?)</script>', client.get("/").text)
    assert element is not None
    snapshot: dict[str, object] = json.loads(element[1])
    return snapshot


def test_a_first_load_is_few_files_and_small(guest: httpx.Client) -> None:
    page = guest.get("/", headers={"accept-encoding": "gzip"})
    addresses = ADDRESS.findall(page.text)
    assert [address.rpartition("/")[2] for address in addresses] == [
        "icon.svg",
        "tallybone.webmanifest",
        "page.css",
        "page.js",
    ]
    answers = [guest.get(f"/{address}", headers={"accept-encoding": "gzip"}) for address in addresses]
    assert all(answer.headers["content-encoding"] == "gzip" for answer in (page, *answers))
    assert sum(int(answer.headers["content-length"]) for answer in (page, *answers)) < 45_000


def test_a_second_load_only_fetches_the_page(guest: httpx.Client) -> None:
    page = guest.get("/")
    assert page.headers["cache-control"] == "no-store"
    for address in ADDRESS.findall(page.text):
        assert "immutable" in guest.get(f"/{address}").headers["cache-control"]
    assert guest.get("/icon.svg").status_code == 404, "only hashed addresses may be cached forever"


def test_clients_without_gzip_get_plain_files(guest: httpx.Client) -> None:
    for address in ("", *ADDRESS.findall(guest.get("/").text)):
        packed = guest.get(f"/{address}", headers={"accept-encoding": "gzip"})
        plain = guest.get(f"/{address}", headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.headers["content-type"] == packed.headers["content-type"]
        assert plain.text == packed.text


def test_the_page_embeds_the_current_state(table: TrueTable, guest: httpx.Client) -> None:
    assert embedded_snapshot(guest) == {"type": "snapshot", **guest.get("/api/v1/state").json()}
    before = embedded_snapshot(guest)["version"]
    table.play(9)
    assert embedded_snapshot(guest)["version"] != before


def test_names_cannot_break_out_of_the_embedded_snapshot(guest: httpx.Client) -> None:
    text = guest.get("/").text
    assert "alert(1)" in text
    assert EVIL not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert EVIL[:35] in str(embedded_snapshot(guest)["players"])


@pytest.mark.parametrize(
    ("path", "accepted", "cookie", "language"),
    [
        ("/", "", "", "en"),
        ("/", "es-MX,es;q=0.9,en;q=0.8", "", "es"),
        ("/", "de, en;q=0.2, fr;q=0.7", "", "fr"),
        ("/", "de-DE", "", "en"),
        ("/", ";;q=x,,", "", "en"),
        ("/", "es", "pt", "pt"),
        ("/", "", "../x", "en"),
        ("/?lang=fr", "", "pt", "fr"),
        ("/?lang=xx", "", "pt", "pt"),
        ("/index.html?display", "PT-br", "", "pt"),
    ],
)
def test_the_page_uses_the_requested_language(
    guest: httpx.Client, path: str, accepted: str, cookie: str, language: str
) -> None:
    sent = {"accept-language": accepted, "cookie": cookie and f"tallybone_language={cookie}"}
    shown = guest.get(path, headers={name: value for name, value in sent.items() if value})
    assert f'<html lang="{language}">' in shown.text


def test_only_the_files_of_the_page_are_served_to_read(guest: httpx.Client) -> None:
    assert guest.head("/").status_code == 200
    assert guest.put("/", json={}).status_code == 405
    for path in ("main.js", "say.js", "static/main.js", "0123456789abcdef/page.js", "app.py", "../app.py"):
        assert guest.get(f"/{path}").status_code == 404, path


def test_contents_have_their_own_addresses_which_are_found_in_any_language() -> None:
    english, spanish = (Pages(STATIC).page(language).files for language in ("en", "es"))
    pages = Pages(STATIC)
    assert not set(english) & set(spanish)
    assert set(pages.page("en").files) == set(english), "equal contents have equal addresses"
    for address, file in spanish.items():
        found = pages.file(address)
        assert found is not None
        assert gzip.decompress(found.packed) == file.body


def test_a_page_without_a_snapshot_embeds_none() -> None:
    page = LanguagePage("<html><body></body></html>", {})
    assert page.holding(None) == page.html
    assert page.holding('{"a":"<"}').endswith('id="first">{"a":"\\u003c"}</script>\n</body></html>')


def test_the_manifest_has_icons_of_the_stated_sizes_drawn_from_the_svg(guest: httpx.Client) -> None:
    link = re.search(r'rel="manifest" href="([\w/.]+)"', guest.get("/").text)
    assert link is not None
    address = httpx.URL(f"http://table/{link[1]}")
    manifest = guest.get(address.path)
    assert manifest.headers["content-type"] == "application/manifest+json"
    told = manifest.json()
    assert address.join(told["start_url"]).path == address.join(told["scope"]).path == "/"
    drawn = icons()
    assert {one["src"] for one in told["icons"]} == set(drawn)
    for one in told["icons"]:
        answer = guest.get(address.join(one["src"]).path)
        assert (answer.headers["content-type"], len(answer.content) < 20_000) == ("image/png", True)
        image = cv2.imdecode(np.frombuffer(answer.content, np.uint8), cv2.IMREAD_UNCHANGED)
        assert image is not None
        assert "x".join(map(str, image.shape[1::-1])) == one["sizes"]
        assert np.array_equal(image, drawn[one["src"]]), "run python -m docs.drawings"


def read(name: str) -> str:
    return SOURCES[name]


def static(name: str) -> str:
    return next(path for folder in STATIC if (path := folder / f"{name}.js").is_file()).read_text()


def names_of(modules: object) -> list[str]:
    return [module.name for module in modules]  # type: ignore[attr-defined]  # any iterable of modules


def test_modules_follow_their_imports_and_dynamic_imports_are_deferred() -> None:
    first = begun_with(("main",), read)
    assert names_of(first) == ["sum", "main"]
    assert names_of(asked_for_later(first, read, names_of(first))) == ["ten", "far"]


def test_the_joined_scripts_behave_like_their_modules(node: str, tmp_path: Path) -> None:
    first = begun_with(("main",), read)
    later = asked_for_later(first, read, names_of(first))
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "page.js").write_text(first_script(first, "$.texts = {};"))
    (tmp_path / "later.js").write_text(later_script(later, "page.js", ""))
    joined = subprocess.run([node, "page.js"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (joined.stdout, joined.stderr) == ("3\n17\n", "")


def test_comments_are_removed() -> None:
    assert "Adds" not in module_of("sum", SOURCES["sum"]).script
    assert "Return" not in module_of("sum", SOURCES["sum"]).script
    assert '// "no" * 2' in module_of("sum", SOURCES["sum"]).script


UNSUPPORTED = """import make from "./dom.js";
import * as dom from "./dom.js";
import { make as made } from "./dom.js";
export default 3;
export let changing = 3;
export { make } from "./dom.js";
const texts = await fetch(1);"""


@pytest.mark.parametrize("source", UNSUPPORTED.splitlines())
def test_rejects_unsupported_syntax(source: str) -> None:
    with pytest.raises(JoiningError, match=r"new\.js"):
        module_of("new", f"{source}\n")


def test_rejects_circular_imports() -> None:
    ring = {"one": 'import { a } from "./two.js";\n', "two": 'import { b } from "./one.js";\n'}
    with pytest.raises(JoiningError, match=r"one\.js needs two\.js needs one\.js"):
        begun_with(("one",), ring.__getitem__)


def test_rarely_used_modules_are_not_in_the_first_script() -> None:
    first = begun_with(("main",), static, {"texts"})
    later = asked_for_later(first, static, {"texts", *names_of(first)})
    assert {"scores", "felt", "controls", "login"} <= {*names_of(first)}
    assert {"calibrate", "zones", "replay", "statistics", "match_form"} <= {*names_of(later)}
    # hand.js belongs to the exported file of a shared hand.
    assert {*names_of(first), *names_of(later), "hand"} == {
        path.stem for folder in STATIC for path in folder.glob("*.js")
    }


def test_no_template_literal_spans_lines() -> None:
    """Removing comments would damage a line of a template literal that looks like a comment."""
    for path in (path for folder in (*STATIC, OWN_STATIC) for path in folder.glob("*.js")):
        for line in path.read_text().splitlines():
            assert line.count("`") % 2 == 0, f"{path.name}: {line}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_is_in_one_of_the_two_files(language: str) -> None:
    files = Pages(STATIC).page(language).files
    first, later = (
        next(file.body.decode() for name, file in files.items() if name.endswith(end))
        for end in ("/page.js", "/later.js")
    )
    for english in catalogue(language):
        entry = f"{json.dumps(english, ensure_ascii=False)}:"
        assert (entry in first) != (entry in later), english
    assert len(first) < 100_000
