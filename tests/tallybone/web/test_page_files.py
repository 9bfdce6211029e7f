"""The files of a page over HTTP: few, small, kept by browsers, in the language of who asks."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator

import httpx
import pytest

from tallybone.web.app import STATIC
from tallybone.web.page_files import LanguagePage, Pages
from tests.tallybone.web.conftest import at_table
from tests.tallybone.web.true_table import TrueTable

ADDRESS = re.compile(r'(?:href|src)="([\w/.]+)"')
EVIL = "</script><script>alert(1)</script><!--"


@pytest.fixture(name="table", scope="module")
def a_table() -> Iterator[TrueTable]:
    with at_table(players=("Ann", EVIL)) as table:
        table.play(8)
        yield table


@pytest.fixture(name="anybody")
def somebody(table: TrueTable) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=table.page.url) as client:
        yield client


def begun_with(client: httpx.Client) -> dict[str, object]:
    """What the page shows first."""
    said = re.search(r'<script type="application/json" id="first">(.*?)</script>', client.get("/").text)
    assert said is not None
    found: dict[str, object] = json.loads(said[1])
    return found


def test_a_first_load_is_three_files_and_small(anybody: httpx.Client) -> None:
    page = anybody.get("/", headers={"accept-encoding": "gzip"})
    addresses = ADDRESS.findall(page.text)
    assert [address.rpartition("/")[2] for address in addresses] == ["icon.svg", "page.css", "page.js"]
    answers = [anybody.get(f"/{address}", headers={"accept-encoding": "gzip"}) for address in addresses]
    assert all(answer.headers["content-encoding"] == "gzip" for answer in (page, *answers))
    assert sum(int(answer.headers["content-length"]) for answer in (page, *answers)) < 45_000


def test_a_second_load_asks_for_the_page_only(anybody: httpx.Client) -> None:
    page = anybody.get("/")
    assert page.headers["cache-control"] == "no-store"
    for address in ADDRESS.findall(page.text):
        assert "immutable" in anybody.get(f"/{address}").headers["cache-control"]
    assert anybody.get("/icon.svg").status_code == 404, "what has no hash in its address would never be new"


def test_what_cannot_be_unpacked_is_sent_as_it_is(anybody: httpx.Client) -> None:
    for address in ("", *ADDRESS.findall(anybody.get("/").text)):
        packed = anybody.get(f"/{address}", headers={"accept-encoding": "gzip"})
        plain = anybody.get(f"/{address}", headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert plain.headers["content-type"] == packed.headers["content-type"]
        assert plain.text == packed.text


def test_the_page_holds_how_the_table_stands(table: TrueTable, anybody: httpx.Client) -> None:
    assert begun_with(anybody) == {"type": "snapshot", **anybody.get("/api/v1/state").json()}
    before = begun_with(anybody)["version"]
    table.play(9)
    assert begun_with(anybody)["version"] != before


def test_no_name_breaks_out_of_what_the_page_holds(anybody: httpx.Client) -> None:
    text = anybody.get("/").text
    assert "alert(1)" in text
    assert EVIL not in text
    assert text.count("<script") == text.count("</script>") == 2
    assert EVIL[:35] in str(begun_with(anybody)["players"])


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
def test_the_page_is_in_the_language_of_who_asks(
    anybody: httpx.Client, path: str, headers: dict[str, str], language: str
) -> None:
    assert f'<html lang="{language}">' in anybody.get(path, headers=headers).text


def test_the_page_is_only_read(anybody: httpx.Client) -> None:
    assert anybody.head("/").status_code == 200
    assert anybody.put("/", json={}).status_code == 405


def test_nothing_but_the_files_of_the_page_is_there(anybody: httpx.Client) -> None:
    for path in ("main.js", "say.js", "static/main.js", "0123456789abcdef/page.js", "app.py", "../app.py"):
        assert anybody.get(f"/{path}").status_code == 404, path


def test_another_text_is_at_another_address() -> None:
    pages = Pages((STATIC,))
    english, spanish = (set(pages.page(language).files) for language in ("en", "es"))
    assert not english & spanish
    assert set(Pages((STATIC,)).page("en").files) == english, "and the same text at the same"


def test_every_file_is_found_by_its_address_in_any_language() -> None:
    spanish = Pages((STATIC,)).page("es").files
    pages = Pages((STATIC,))
    for address, file in spanish.items():
        found = pages.file(address)
        assert found is not None
        assert gzip.decompress(found.packed) == file.body


def test_a_page_without_a_snapshot_holds_none() -> None:
    page = LanguagePage("<html><body></body></html>", {})
    assert page.holding(None) == page.html
    assert page.holding('{"a":"<"}').endswith('id="first">{"a":"\\u003c"}</script>\n</body></html>')
