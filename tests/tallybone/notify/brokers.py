"""A real broker for tests: Debian's mosquitto, on a port of its own, that can be killed and begun again."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from tests.waiting import until

MOSQUITTO = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin:/usr/local/sbin")
WHY_NOT = "there is no mosquitto: sudo apt install mosquitto"
_PATIENCE_S = 30.0


@dataclass(slots=True)
class RealBroker:
    """A mosquitto; what is retained is gone when it is begun again, unless *lines* say otherwise."""

    folder: Path
    port: int
    lines: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def begin(self) -> None:
        config = self.folder / "mosquitto.conf"
        usual = () if any("allow_anonymous" in line for line in self.lines) else ("allow_anonymous true",)
        if os.geteuid() == 0:  # otherwise it becomes somebody who may not look into the folder
            usual = (*usual, "user root")
        config.write_text("\n".join((f"listener {self.port} 127.0.0.1", *usual, *self.lines)) + "\n")
        with (self.folder / "mosquitto.log").open("ab") as log:
            assert MOSQUITTO is not None
            self.process = subprocess.Popen([MOSQUITTO, "-c", str(config)], stdout=log, stderr=log)
        until_heard(self._answers)

    def end(self) -> None:
        """End it as the system does: it keeps what it was told to keep."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait()
        self.process = None

    def kill(self) -> None:
        """Kill -9."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        with socket.socket() as trying:
            return trying.connect_ex(("127.0.0.1", self.port)) == 0


@dataclass(slots=True)
class Heard:
    """Somebody who hears all that the broker says: the newest of each topic, and every message of topics `events`."""

    client: paho.Client
    newest: dict[str, bytes] = field(default_factory=dict)
    events: list[bytes] = field(default_factory=list)
    retained: set[str] = field(default_factory=set)

    def came(self, message: paho.MQTTMessage) -> None:
        payload = bytes(message.payload)
        self.newest[message.topic] = payload
        if message.retain:
            self.retained.add(message.topic)
        if message.topic.endswith("/events"):
            self.events.append(payload)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


@contextmanager
def real_broker(folder: Path, *lines: str) -> Iterator[RealBroker]:
    """Yield a broker until the end of the block."""
    broker = RealBroker(folder, free_port(), lines)
    broker.begin()
    try:
        yield broker
    finally:
        broker.kill()


@contextmanager
def hearing(broker: RealBroker, topic: str = "#") -> Iterator[Heard]:
    """Yield somebody who hears, and for whom a broker keeps what is said while there is no line."""
    client = paho.Client(CallbackAPIVersion.VERSION2, uuid.uuid4().hex, clean_session=False)
    heard = Heard(client)
    client.on_message = lambda _, __, message: heard.came(message)
    ready = threading.Event()
    client.on_connect = lambda one, *_: one.subscribe(topic, qos=1)
    client.on_subscribe = lambda *_: ready.set()
    client.reconnect_delay_set(1, 1)
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    try:
        assert ready.wait(_PATIENCE_S)
        yield heard
    finally:
        client.disconnect()
        client.loop_stop()


def until_heard(is_so: Callable[[], object], patience_s: float = _PATIENCE_S) -> None:
    """Wait until something is so, as long as a broker may take."""
    until(is_so, patience_s)
