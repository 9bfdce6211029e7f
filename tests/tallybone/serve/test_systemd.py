"""Tests of messages to systemd: readiness, watchdog and status."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallybone.serve.systemd import Life, Notifier, Sign, notifying, watchdog_of

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


def test_an_invalid_socket_is_an_error() -> None:
    with pytest.raises(OSError, match="expected a path or @name"), notifying({"NOTIFY_SOCKET": "vsock:2:1"}, int, 7):
        pass


def test_works_without_systemd() -> None:
    with notifying({}, int, 7) as notifier:
        notifier.seen(Sign.PAGE)
        notifier.seen(Sign.CAMERA)
        notifier.say("no match")
        notifier.turn()


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


def test_the_watchdog_is_not_fed_before_the_table_is_ready(systemd: Listening, tmp_path: Path) -> None:
    with notifying(environment(tmp_path), systemd.clock, 7) as notifier:
        notifier.seen(Sign.PAGE)
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


def test_a_life_is_immutable() -> None:
    life = Life().after(Sign.PAGE, 5)
    assert life.missing(5, None) == (Sign.CAMERA,)
    assert life.after(Sign.CAMERA, 6).reported(7, None) == (
        Life(camera_ns=6, page_ns=5, is_ready=True),
        ("READY=1",),
    )
