"""Tests of a served table under systemd: readiness and the watchdog."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tallybone.play.counts import Counts
from tallybone.serve.systemd import Notifier
from tallybone.serve.table import LifeSigns, ServedLife
from tests.tallybone.serve.served import Blind, Plugs, at_served_table
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.slow

S = 1_000_000_000
_PAUSE = threading.Event()


@dataclass
class Table:
    """A simulated table with a watchdog of 30 s."""

    now_ns: int = 0
    seen_ns: int | None = None
    is_silent: bool = False
    page_lives: bool = True
    sent: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        def send(message: bytes) -> bool:
            self.sent.append(message)
            return True

        notifier = Notifier(send, lambda: self.now_ns, 30 * S)
        look = LifeSigns(seen_ns=lambda: self.seen_ns, is_silent=lambda: self.is_silent, text=lambda: "")
        self.life = ServedLife(notifier, look, self._answer, lambda: self.now_ns, Counts())

    def _answer(self, do: Callable[[], object]) -> None:
        if self.page_lives:
            do()

    def fed_in(self, seconds: int, *, pictures: bool) -> int:
        """Advance the time, and return the number of watchdog messages."""
        before = len(self.sent)
        for _ in range(seconds):
            self.now_ns += S
            self.seen_ns = self.now_ns if pictures else self.seen_ns
            self.life.turn()
        return sum(b"WATCHDOG=1" in message for message in self.sent[before:])


def test_the_watchdog_is_fed_while_pictures_arrive() -> None:
    assert Table().fed_in(60, pictures=True) >= 7


def test_the_watchdog_is_fed_while_missing_pictures_are_reported() -> None:
    assert Table(is_silent=True).fed_in(60, pictures=False) >= 7


def test_the_watchdog_is_not_fed_if_pictures_stop_silently() -> None:
    table = Table()
    table.fed_in(10, pictures=True)
    assert table.fed_in(60, pictures=False) <= 2


def test_the_watchdog_is_not_fed_if_the_page_does_not_answer() -> None:
    table = Table()
    table.fed_in(10, pictures=True)
    table.page_lives = False
    assert table.fed_in(60, pictures=True) <= 2


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Callable[[], str]]:
    """Return a function that returns all messages to systemd so far."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listening.bind(str(tmp_path / "notify"))
    listening.settimeout(0)
    received: list[str] = []

    def all_heard() -> str:
        while True:
            try:
                received.append(listening.recv(4096).decode())
            except BlockingIOError:
                return "\n".join(received)

    yield all_heard
    listening.close()


def watched(folder: Path) -> dict[str, str]:
    return {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "2000000"}


def test_a_table_is_ready_once_it_has_a_page_and_a_picture(systemd: Callable[[], str], tmp_path: Path) -> None:
    with at_served_table(tmp_path, environment=watched(tmp_path)) as table:
        until(lambda: "STATUS=page http://127.0.0.1:" in systemd())
        assert "READY=1" not in systemd()

        def is_ready() -> bool:
            table.plugs.show()
            return "READY=1" in systemd()

        until(is_ready)
        assert "STOPPING=1" not in systemd()
    assert systemd().endswith("STOPPING=1")


def test_a_table_without_a_camera_is_ready_and_fed(systemd: Callable[[], str], tmp_path: Path) -> None:
    with at_served_table(tmp_path, plugs=Plugs(None), environment=watched(tmp_path)):
        until(lambda: systemd().count("WATCHDOG=1") >= 3)
        assert "check that it is plugged in" in systemd()


def test_a_table_configured_without_a_camera_is_ready_and_fed(systemd: Callable[[], str], tmp_path: Path) -> None:
    with at_served_table(tmp_path, camera="none", environment=watched(tmp_path)):
        until(lambda: systemd().count("WATCHDOG=1") >= 3)


def test_a_table_is_fed_while_a_match_loads_its_models(systemd: Callable[[], str], tmp_path: Path) -> None:
    may_load = threading.Event()

    def load(max_pips: int) -> Blind:
        assert may_load.wait(PATIENCE_S)
        return Blind()

    def count_of_feeds() -> int:
        table.plugs.show()
        return systemd().count("WATCHDOG=1")

    with at_served_table(tmp_path, environment=watched(tmp_path), load=load) as table, table.client() as client:
        until(lambda: count_of_feeds() >= 1)
        with ThreadPoolExecutor() as pool:
            begun = pool.submit(client.post, "/match", json={"game": "bones", "players": ["Ann", "Ben"]})
            before = count_of_feeds()
            until(lambda: count_of_feeds() >= before + 5)
            assert not begun.done()
            may_load.set()
            until(lambda: count_of_feeds() and begun.done())
            assert begun.result().status_code == 204


def test_a_table_with_a_silent_camera_is_not_fed(systemd: Callable[[], str], tmp_path: Path) -> None:
    with at_served_table(tmp_path, environment=watched(tmp_path)) as table:

        def is_fed() -> bool:
            table.plugs.show()
            return "WATCHDOG=1" in systemd()

        until(is_fed)
        until(lambda: fed_no_more(systemd))


def fed_no_more(systemd: Callable[[], str]) -> bool:
    """Check that no watchdog message arrives for two seconds. Usually there are two per second."""
    count = systemd().count("WATCHDOG=1")
    _PAUSE.wait(2.0)
    return systemd().count("WATCHDOG=1") == count
