"""Tests of messages to systemd: readiness, watchdog and status, also of a served table."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tallybone.play.counts import Counts
from tallybone.serve.setup import LifeSigns, ServedLife
from tallybone.serve.systemd import Notifier, Sign, notifying, watchdog_of
from tests.tallybone.serve.served import Blind, Plugs, at_served_table
from tests.waiting import PATIENCE_S, until

_PAUSE = threading.Event()
S = 1_000_000_000
WATCHDOG_NS = 30 * S


class Listening:
    """Systemd's end of the socket, with a settable clock."""

    def __init__(self, address: str | bytes) -> None:
        self.now_ns = 0
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(address)
        self.socket.settimeout(0)

    def clock(self) -> int:
        return self.now_ns

    def received(self) -> list[str]:
        """Return the lines received since the last call."""
        lines: list[str] = []
        while True:
            try:
                lines += self.socket.recv(4096).decode().split("\n")
            except BlockingIOError:
                return lines


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Listening]:
    listening = Listening(str(tmp_path / "notify"))
    yield listening
    listening.socket.close()


def environment(tmp_path: Path, *, watchdog: bool = True) -> dict[str, str]:
    variables = {"NOTIFY_SOCKET": str(tmp_path / "notify")}
    return {**variables, "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "7"} if watchdog else variables


def test_a_table_is_ready_after_signs_of_page_and_camera(systemd: Listening, tmp_path: Path) -> None:
    with notifying(environment(tmp_path, watchdog=False), systemd.clock, 7) as notifier:
        notifier.turn()
        assert systemd.received() == []
        notifier.seen(Sign.PAGE)
        notifier.turn()
        assert systemd.received() == []
        notifier.seen(Sign.CAMERA)
        notifier.turn()
        notifier.turn()
        assert systemd.received() == ["READY=1"]
    assert systemd.received() == ["STOPPING=1"]


def test_an_abstract_socket_is_supported() -> None:
    listening = Listening(b"\0tallybone-notify-test")
    with notifying({"NOTIFY_SOCKET": "@tallybone-notify-test"}, listening.clock, 7):
        pass
    assert listening.received() == ["STOPPING=1"]
    listening.socket.close()


def test_the_end_is_sent_after_an_error(systemd: Listening, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), notifying(environment(tmp_path), systemd.clock, 7):
        raise ZeroDivisionError
    assert systemd.received() == ["STOPPING=1"]


def test_works_without_systemd_but_not_with_an_invalid_socket() -> None:
    with notifying({}, int, 7) as notifier:
        notifier.seen(Sign.PAGE)
        notifier.seen(Sign.CAMERA)
        notifier.say("no match")
        notifier.turn()
    with pytest.raises(OSError, match="expected a path or @name"), notifying({"NOTIFY_SOCKET": "vsock:2:1"}, int, 7):
        pass


def test_the_watchdog_is_fed_four_times_per_interval(systemd: Listening, tmp_path: Path) -> None:
    fed_s = []
    with notifying(environment(tmp_path), systemd.clock, 7) as notifier:
        for second in range(60):
            systemd.now_ns = second * S
            notifier.seen(Sign.PAGE)
            notifier.seen(Sign.CAMERA)
            notifier.turn()
            fed_s += [second] * systemd.received().count("WATCHDOG=1")
    assert fed_s == [0, 8, 16, 24, 32, 40, 48, 56]


@pytest.mark.parametrize("sign", list(Sign))
def test_the_watchdog_is_not_fed_while_a_sign_is_missing(
    sign: Sign, systemd: Listening, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fed_s = []
    with notifying(environment(tmp_path), systemd.clock, 7) as notifier, caplog.at_level(logging.WARNING):
        for second in range(100):
            systemd.now_ns = second * S
            for each in Sign:
                if each is not sign or second < 10:
                    notifier.seen(each)
            notifier.turn()
            fed_s += [second] * systemd.received().count("WATCHDOG=1")
    assert fed_s == [0, 8, 16, 24]  # the last sign came at 9 s and is valid for 15 s
    assert [record.getMessage() for record in caplog.records] == [f"no watchdog message to systemd: {sign.value}"]


def test_the_watchdog_is_fed_again_once_the_sign_returns(systemd: Listening, tmp_path: Path) -> None:
    with notifying(environment(tmp_path), systemd.clock, 7) as notifier:
        for t_s, signs in ((0, list(Sign)), (20, [Sign.PAGE]), (21, [Sign.CAMERA])):
            systemd.now_ns = t_s * S
            for sign in signs:
                notifier.seen(sign)
            notifier.turn()
    assert systemd.received() == ["READY=1", "WATCHDOG=1", "WATCHDOG=1", "STOPPING=1"]


def test_a_stalled_loop_does_not_feed_the_watchdog(systemd: Listening, tmp_path: Path) -> None:
    with notifying(environment(tmp_path), systemd.clock, 7) as notifier:
        for second in range(60):
            systemd.now_ns = second * S
            notifier.seen(Sign.PAGE)
            notifier.seen(Sign.CAMERA)
    assert systemd.received() == ["STOPPING=1"]
    with notifying(environment(tmp_path), systemd.clock, 7) as notifier:
        notifier.seen(Sign.PAGE)  # not ready yet
        notifier.turn()
    assert systemd.received() == ["STOPPING=1"]


def test_a_status_is_sent_once(systemd: Listening, tmp_path: Path) -> None:
    with notifying(environment(tmp_path), systemd.clock, 7) as notifier:
        for text in ("no match", "no match", "bones: Ann, Ben"):
            notifier.say(text)
            notifier.turn()
    assert systemd.received() == ["STATUS=no match", "STATUS=bones: Ann, Ben", "STOPPING=1"]


def test_names_cannot_inject_messages(systemd: Listening, tmp_path: Path) -> None:
    with notifying(environment(tmp_path), systemd.clock, 7) as notifier:
        notifier.say("Ann\nREADY=1\nMAINPID=1\x1b[31m" + "x" * 5000)
        notifier.turn()
        (line,) = systemd.received()
    assert line.startswith("STATUS=Ann READY=1 MAINPID=1 [31mxxx")
    assert len(line) == len("STATUS=") + 200


def test_a_failed_message_is_sent_again() -> None:
    sent: list[bytes] = []
    works = [False]

    def send(message: bytes) -> bool:
        if works[0]:
            sent.append(message)
        return works[0]

    notifier = Notifier(send, lambda: 0, WATCHDOG_NS)
    notifier.seen(Sign.PAGE)
    notifier.seen(Sign.CAMERA)
    notifier.turn()
    works[0] = True
    notifier.turn()
    assert sent == [b"READY=1\nWATCHDOG=1"]


def test_a_closed_socket_does_not_stop_the_table(systemd: Listening, tmp_path: Path) -> None:
    with notifying(environment(tmp_path), systemd.clock, 7) as notifier:
        systemd.socket.close()
        notifier.say("no match")
        notifier.turn()


def test_the_watchdog_of_another_process_is_ignored() -> None:
    assert watchdog_of({"WATCHDOG_USEC": "5", "WATCHDOG_PID": "8"}, 7) is None
    assert watchdog_of({"WATCHDOG_USEC": "5"}, 7) == 5000


@pytest.mark.parametrize("usec", ["", "0", "-5", "ten", "\u0665"])
def test_an_invalid_watchdog_time_is_ignored(usec: str) -> None:
    assert watchdog_of({"WATCHDOG_USEC": usec}, 7) is None


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


def test_the_watchdog_is_fed_unless_pictures_stop_silently_or_the_page_does_not_answer() -> None:
    assert Table().fed_in(60, pictures=True) >= 7
    assert Table(is_silent=True).fed_in(60, pictures=False) >= 7  # missing pictures are reported
    for pictures in (False, True):
        table = Table()
        table.fed_in(10, pictures=True)
        table.page_lives = not pictures
        assert table.fed_in(60, pictures=pictures) <= 2


@pytest.fixture
def heard(systemd: Listening) -> Callable[[], str]:
    """Return a function that returns all messages to systemd so far."""
    received: list[str] = []

    def all_heard() -> str:
        received.extend(systemd.received())
        return "\n".join(received)

    return all_heard


def watched(folder: Path) -> dict[str, str]:
    return {"NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "2000000"}


@pytest.mark.slow
def test_a_table_is_ready_once_it_has_a_page_and_a_picture(heard: Callable[[], str], tmp_path: Path) -> None:
    with at_served_table(tmp_path, environment=watched(tmp_path)) as table:
        until(lambda: "STATUS=page http://127.0.0.1:" in heard())
        assert "READY=1" not in heard()

        def is_ready() -> bool:
            table.plugs.show()
            return "READY=1" in heard()

        until(is_ready)
        assert "STOPPING=1" not in heard()
    assert heard().endswith("STOPPING=1")


@pytest.mark.slow
def test_a_table_without_a_camera_is_ready_and_fed(heard: Callable[[], str], tmp_path: Path) -> None:
    with at_served_table(tmp_path, camera="none", environment=watched(tmp_path)):
        until(lambda: heard().count("WATCHDOG=1") >= 3)
    with at_served_table(tmp_path, plugs=Plugs(None), environment=watched(tmp_path)):
        until(lambda: heard().count("WATCHDOG=1") >= 6)
        assert "check that it is plugged in" in heard()


@pytest.mark.slow
def test_a_table_is_fed_while_a_match_loads_its_models(heard: Callable[[], str], tmp_path: Path) -> None:
    may_load = threading.Event()

    def load(max_pips: int) -> Blind:
        assert may_load.wait(PATIENCE_S)
        return Blind()

    def count_of_feeds() -> int:
        table.plugs.show()
        return heard().count("WATCHDOG=1")

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


@pytest.mark.slow
def test_a_table_with_a_silent_camera_is_not_fed(heard: Callable[[], str], tmp_path: Path) -> None:
    with at_served_table(tmp_path, environment=watched(tmp_path)) as table:

        def is_fed() -> bool:
            table.plugs.show()
            return "WATCHDOG=1" in heard()

        until(is_fed)
        until(lambda: fed_no_more(heard))


def fed_no_more(heard: Callable[[], str]) -> bool:
    """Check that no watchdog message arrives for two seconds. Usually there are two per second."""
    count = heard().count("WATCHDOG=1")
    _PAUSE.wait(2.0)
    return heard().count("WATCHDOG=1") == count
