"""Tests of counting a hand over HTTP: photos, the table's camera, doubts, the count, undo, and hostile files."""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import cv2
import httpx
import numpy as np
import pytest

from engine import Phase, Reveal, Seat, Tile, unseen
from lab.bench.photo_memory import photo_of
from tallybone.play.start import session_of
from tallybone.recording.reader import read_recording
from tallybone.recording.resume import left_in
from tallybone.web.access.access import MAX_PHOTO
from tallybone.web.live.hands import beside_layout, doubts_about
from tallybone.web.live.photo import PhotoError, read_photo
from tests.tallybone.web.conftest import assert_nothing_broke, at_recorded_table, at_table
from tests.tallybone.web.hand_photos import end_hand, game_of, hand_photo, jpeg_of_hand
from tests.tallybone.web.true_table import PIN, TrueTable
from tests.vision.picture_files import heic, huge_png, orientation, with_exif
from tests.vision.seen import seen_tile, unsure_tile
from tests.waiting import until
from vision.reader.custom_set import RecordedSet

pytestmark = pytest.mark.slow

API = "/api/v1"
BYTES = {"content-type": "application/octet-stream"}
HAND = [(6, 5), (3, 0), (4, 4), (2, 1)]
HELD = sorted(sorted(pair) for pair in HAND)


@pytest.fixture(scope="module", name="table")
def a_table_at_the_end_of_a_hand() -> Iterator[TrueTable]:
    """Ann is out, and Ben has two tiles left."""
    with at_table() as table:
        end_hand(table)
        until(lambda: httpx.get(f"{table.page.url}{API}/state").json()["match"]["phase"] == "reveal")
        yield table


def send(client: httpx.Client, photo: bytes, seat: int = 1, kind: str = BYTES["content-type"]) -> httpx.Response:
    return client.post(f"{API}/hands/{seat}/photo", content=photo, headers={"content-type": kind}, timeout=240)


def pips_in(answer: httpx.Response) -> list[list[int]]:
    assert answer.status_code == 200, answer.text
    return sorted(sorted(tile["pips"]) for tile in answer.json())


def do(client: httpx.Client, **action: object) -> httpx.Response:
    return client.post(f"{API}/actions", json={"action": action})


def begin_upload(table: TrueTable, client: httpx.Client, length: int, body: bytes) -> socket.socket:
    """Return a connection on which a photo has begun to arrive."""
    line = socket.create_connection(("127.0.0.1", urlsplit(table.page.url).port), timeout=120)
    head = (
        f"POST {API}/hands/1/photo HTTP/1.1\r\nHost: localhost\r\nCookie: tallybone={client.cookies['tallybone']}\r\n"
    )
    line.sendall(f"{head}Content-Type: image/jpeg\r\nContent-Length: {length}\r\n\r\n".encode() + body)
    return line


def test_reads_each_tile_of_a_photo_upright_with_its_crop(insider: httpx.Client) -> None:
    assert pips_in(send(insider, with_exif(jpeg_of_hand(HAND), orientation(6)))) == HELD
    assert pips_in(send(insider, heic(hand_photo(*HAND), quality=90), kind="image/heic")) == HELD
    answer = send(insider, jpeg_of_hand(HAND))
    assert pips_in(answer) == HELD
    for tile in answer.json():
        assert tile["sure"] == [True, True]
        assert tile["picture"].startswith("data:image/jpeg;base64,")


def test_a_photo_without_tiles_is_empty(insider: httpx.Client) -> None:
    assert send(insider, jpeg_of_hand([])).json() == []
    for size in ((1, 1), (900, 1)):
        assert send(insider, cv2.imencode(".png", np.full((*size, 3), 90, np.uint8))[1].tobytes()).json() == []


@pytest.mark.parametrize(
    ("photo", "text"),
    [
        (b"", "not a picture, or it is damaged"),
        (b"hello table", "not a picture, or it is damaged"),
        (jpeg_of_hand(HAND)[:-5000], "not a picture, or it is damaged"),
        (huge_png(), "too large: take one with at most 80 megapixels"),
    ],
    ids=["empty", "text", "cut", "huge"],
)
def test_an_unreadable_photo_is_refused_with_advice(insider: httpx.Client, photo: bytes, text: str) -> None:
    answer = send(insider, photo)
    assert answer.status_code == 422
    assert text in answer.json()["error"]


def test_without_the_library_heic_is_refused_with_advice(
    insider: httpx.Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pillow_heif.py").write_text("raise ImportError\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    answer = send(insider, b"\0\0\0\x18ftypheic" + b"\0" * 100)
    assert answer.status_code == 422
    assert "Most Compatible" in answer.json()["error"]


def test_photos_need_the_pin_a_type_and_a_limited_size(guest: httpx.Client, insider: httpx.Client) -> None:
    photo = jpeg_of_hand(HAND)
    assert send(guest, photo).status_code == 401
    assert guest.get(f"{API}/hands/1/table").status_code == 401
    assert send(insider, photo, kind="text/plain").status_code == 415
    assert send(insider, photo, kind="multipart/form-data").status_code == 415
    assert send(insider, bytes(MAX_PHOTO + 1)).status_code == 413
    assert insider.post(f"{API}/hands/1/photo", content=iter([b"x" * 4096] * 4100), headers=BYTES).status_code == 413
    assert insider.post(f"{API}/actions", content=photo, headers=BYTES).status_code == 413
    assert insider.post(f"{API}/actions", content=b"{}", headers=BYTES).status_code == 415


def test_an_interrupted_upload_is_no_error(
    table: TrueTable, insider: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        begin_upload(table, insider, 90_000, b"x" * 9000).close()
    assert pips_in(send(insider, jpeg_of_hand(HAND))) == HELD
    assert_nothing_broke(caplog)


def test_only_a_few_photos_wait(table: TrueTable, insider: httpx.Client) -> None:
    photo = jpeg_of_hand(HAND)
    with ThreadPoolExecutor(12) as pool:
        statuses = [answer.status_code for answer in pool.map(lambda _: send(insider, photo), range(12))]
    assert set(statuses) == {200, 429}
    assert send(insider, photo).status_code == 200


def test_slow_uploads_keep_nobody_waiting(table: TrueTable, insider: httpx.Client) -> None:
    with ExitStack() as stack:
        for _ in range(6):
            stack.enter_context(begin_upload(table, insider, 90_000, b"x" * 9000))
        assert pips_in(send(insider, jpeg_of_hand(HAND))) == HELD


def test_the_largest_upload_gives_way_if_all_take_too_much_memory(table: TrueTable, insider: httpx.Client) -> None:
    with ExitStack() as stack:
        lines = [
            stack.enter_context(begin_upload(table, insider, MAX_PHOTO, bytes(megabytes << 20)))
            for megabytes in (14, 15, 14)
        ]
        lines[1].sendall(b"x")  # it learns of it with its next bytes
        assert lines[1].recv(4096).startswith(b"HTTP/1.1 429 ")
        assert pips_in(send(insider, jpeg_of_hand(HAND))) == HELD


def test_too_much_memory_for_a_photo_is_refused_in_one_sentence(insider: httpx.Client) -> None:
    answer = send(insider, photo_of(79, is_progressive=True))
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("this photo needs too much memory: send a smaller one")
    photo = jpeg_of_hand(HAND)
    tiles, image = read_photo(photo, 6, None)
    assert (len(tiles), image.shape) == (len(HAND), (720, 960, 3))
    with pytest.raises(PhotoError, match="too much memory"):
        read_photo(photo, 6, None, max_bytes=1 << 20)


@pytest.mark.parametrize("megapixels", [79, 16])
def test_large_photos_are_read(insider: httpx.Client, megapixels: int) -> None:
    answer = send(insider, photo_of(megapixels, is_progressive=False))
    assert answer.status_code == 200
    assert len(answer.json()) > 20


def test_only_hands_to_be_counted_are_read(insider: httpx.Client) -> None:
    photo = jpeg_of_hand(HAND)
    assert "Ann is out" in send(insider, photo, seat=0).json()["error"]
    assert [send(insider, photo, seat=seat).status_code for seat in (0, 5, 99)] == [409, 409, 422]
    assert insider.get(f"{API}/hands/0/table").status_code == 409
    with at_table() as table, httpx.Client(base_url=table.page.url) as client:
        client.post(f"{API}/login", json={"pin": PIN})
        table.play(5)
        until(lambda: client.get(f"{API}/state").json()["match"]["phase"] == "play")
        assert send(client, photo).status_code == 409
        assert client.get(f"{API}/hands/1/doubts").status_code == 409


def test_damaged_photos_are_never_a_server_error(insider: httpx.Client) -> None:
    rng = random.Random(53)
    photos = [jpeg_of_hand([(6, 5)]), cv2.imencode(".png", hand_photo())[1].tobytes(), b"\0\0\0\x18ftypheic" * 9]
    for at in range(12):
        data = bytearray(photos[at % 3])
        for _ in range(rng.randrange(1, 9)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        assert send(insider, bytes(data[: rng.randrange(len(data))] if at % 2 else data)).status_code in (200, 422)


def test_doubts_name_missing_repeated_and_used_tiles(table: TrueTable, guest: httpx.Client) -> None:
    game = game_of(table)
    laid = game.layout.nodes[0].tile

    def doubts(*tiles: Tile, lang: str = "en") -> list[str]:
        pips: list[tuple[str, Any]] = [("pips", half) for tile in tiles for half in (tile.low, tile.high)]
        found: list[str] = guest.get(f"{API}/hands/1/doubts", params=[*pips, ("lang", lang)]).json()
        return found

    assert doubts() == ["Ben shows 0 tiles, but should hold 2"]
    assert doubts(lang="es") == ["Ben muestra 0 fichas, pero debería tener 2"]
    assert f"the {laid} has already been seen elsewhere" in doubts(laid, Tile(0, 0))
    twice = [text for text in doubts(Tile(6, 6), Tile(6, 6)) if "has already" in text or "counted" in text]
    assert twice == ["the 6-6 is counted 2 times"]
    assert guest.get(f"{API}/hands/1/doubts?pips=19").status_code == 422
    assert game.hand is not None, "the expected hand raises no doubt"
    claims = game.hand.claims[1]
    free = [tile for tile in unseen(game) if not any(tile.bit & claim.denied for claim in claims)]
    assert doubts_about(game, Seat(1), tuple(free[: game.hand.sizes[1]])) == ()


def test_a_counted_hand_ends_the_hand_and_can_be_undone(tmp_path: Path) -> None:
    with at_recorded_table(tmp_path / "counted.mcap") as (table, client):
        client.base_url = httpx.URL(table.page.url)
        before = end_hand(table).totals
        counted = do(client, type="reveal", seat=1, tiles=[[6, 6], [1, 0]]).json()
        assert game_of(table).phase is Phase.DEAL
        after = game_of(table).totals
        assert after[0] > before[0], "13 pips are 10 or 15 points for Ann"
        assert do(client, **counted["back"]).status_code == 200
        assert (game_of(table).phase, game_of(table).totals) == (Phase.REVEAL, before)
        assert do(client, type="reveal", seat=1, tiles=[[6, 6], [1, 0]]).status_code == 200
        assert game_of(table).totals == after
    resumed = session_of(left_in(read_recording(tmp_path / "counted.mcap")), t_ns=0)
    assert resumed.state.game == game_of(table), "the recording replays to the same result"
    assert Reveal(Seat(1), (Tile(6, 6), Tile(0, 1))) in resumed.state.log


def test_photos_are_read_with_the_custom_set_of_the_match_if_it_can_be_used(caplog: pytest.LogCaptureFixture) -> None:
    with at_table() as table, httpx.Client(base_url=table.page.url) as client:
        client.post(f"{API}/login", json={"pin": PIN})
        end_hand(table)
        table.camera.give(RecordedSet(6, "another reader", "AAAA", 0.6))
        table.play(0)
        until(lambda: table.page.feed.now is not None and table.page.feed.now.own_set is not None)
        assert pips_in(send(client, jpeg_of_hand(HAND))) == HELD
    assert "The learned tile set is not used" in caplog.text


def test_an_impossible_hand_is_refused(insider: httpx.Client) -> None:
    for seat, tiles in ((0, [[6, 6]]), (7, []), (1, [[6, 19]]), (1, [[6]]), (1, [[1, 1]] * 101)):
        assert do(insider, type="reveal", seat=seat, tiles=tiles).status_code == 422, tiles


def test_tiles_on_the_table_are_offered_without_the_layout(table: TrueTable, insider: httpx.Client) -> None:
    assert insider.get(f"{API}/hands/1/table").json() == []
    now = table.live.now
    assert now.view is not None
    beside = unsure_tile(x_px=40.0, y_px=40.0)
    boneyard = seen_tile(None, x_px=90.0, y_px=40.0)
    moved = replace(now.view, tiles=(*now.view.tiles, boneyard), unsure=(beside,), size_px=(1280, 720))
    assert [*beside_layout(now.session, moved, Seat(1))] == [beside]
