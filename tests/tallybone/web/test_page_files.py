"""Tests of the page's files over HTTP: number, size, caching and language."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator

import cv2
import httpx
import numpy as np
import pytest

from docs.drawings.icons import icons
from tallybone.web.access.files import LanguagePage, Pages
from tallybone.web.live.app import STATIC
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.true_table import TrueTable

ADDRESS = re.compile(r'(?:href|src)="([\w/.]+)"')
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
    """Return the snapshot embedded in the page."""
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
    ("path", "headers", "language"),
    [
        ("/", {}, "en"),
        ("/", {"accept-language": "es-MX,es;q=0.9,en;q=0.8"}, "es"),
        ("/", {"accept-language": "de, en;q=0.2, fr;q=0.7"}, "fr"),
        ("/", {"accept-language": "de-DE"}, "en"),
        ("/", {"accept-language": ";;q=x,,"}, "en"),
        ("/", {"accept-language": "es", "cookie": "tallybone_language=pt"}, "pt"),
        ("/", {"cookie": "tallybone_language=../x"}, "en"),
        ("/?lang=fr", {"cookie": "tallybone_language=pt"}, "fr"),
        ("/?lang=xx", {"cookie": "tallybone_language=pt"}, "pt"),
        ("/index.html?display", {"accept-language": "PT-br"}, "pt"),
    ],
)
def test_the_page_uses_the_requested_language(
    guest: httpx.Client, path: str, headers: dict[str, str], language: str
) -> None:
    assert f'<html lang="{language}">' in guest.get(path, headers=headers).text


def test_the_page_is_read_only(guest: httpx.Client) -> None:
    assert guest.head("/").status_code == 200
    assert guest.put("/", json={}).status_code == 405


def test_only_the_files_of_the_page_are_served(guest: httpx.Client) -> None:
    for path in ("main.js", "say.js", "static/main.js", "0123456789abcdef/page.js", "app.py", "../app.py"):
        assert guest.get(f"/{path}").status_code == 404, path


def test_different_contents_have_different_addresses() -> None:
    pages = Pages(STATIC)
    english, spanish = (set(pages.page(language).files) for language in ("en", "es"))
    assert not english & spanish
    assert set(Pages(STATIC).page("en").files) == english, "equal contents have equal addresses"


def test_every_file_is_found_by_its_address_in_any_language() -> None:
    spanish = Pages(STATIC).page("es").files
    pages = Pages(STATIC)
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
