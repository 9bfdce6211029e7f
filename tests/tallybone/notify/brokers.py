"""A mosquitto broker for tests, which can be killed and restarted."""

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
    """A mosquitto broker. Restarts lose retained messages, unless *lines* configure persistence."""

    folder: Path
    port: int
    lines: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"mqtt://127.0.0.1:{self.port}"

    def start(self) -> None:
        config = self.folder / "mosquitto.conf"
        usual = () if any("allow_anonymous" in line for line in self.lines) else ("allow_anonymous true",)
        if os.geteuid() == 0:  # otherwise it changes to a user without access to the folder
            usual = (*usual, "user root")
        config.write_text("\n".join((f"listener {self.port} 127.0.0.1", *usual, *self.lines)) + "\n")
        with (self.folder / "mosquitto.log").open("ab") as log:
            assert MOSQUITTO is not None
            self.process = subprocess.Popen([MOSQUITTO, "-c", str(config)], stdout=log, stderr=log)
        until_broker(self._answers)

    def stop(self) -> None:
        """Terminate it like the system, with its persistent data saved."""
        assert self.process is not None
        self.process.terminate()
        self.process.wait()
        self.process = None

    def kill(self) -> None:
        """Kill it by SIGKILL."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@dataclass(slots=True)
class Subscriber:
    """A subscriber with the newest message of each topic, and all messages of topics `events`."""

    client: paho.Client
    newest: dict[str, bytes] = field(default_factory=dict)
    events: list[bytes] = field(default_factory=list)
    retained: set[str] = field(default_factory=set)

    def receive(self, message: paho.MQTTMessage) -> None:
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
    broker.start()
    try:
        yield broker
    finally:
        broker.kill()


@contextmanager
def subscribed(broker: RealBroker, topic: str = "#") -> Iterator[Subscriber]:
    """Yield a subscriber with a persistent session, for which the broker keeps messages without a connection."""
    client = paho.Client(CallbackAPIVersion.VERSION2, uuid.uuid4().hex, clean_session=False)
    subscriber = Subscriber(client)
    client.on_message = lambda _, __, message: subscriber.receive(message)
    ready = threading.Event()
    client.on_connect = lambda client_, *_: client_.subscribe(topic, qos=1)
    client.on_subscribe = lambda *_: ready.set()
    client.reconnect_delay_set(1, 1)
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    try:
        assert ready.wait(_PATIENCE_S)
        yield subscriber
    finally:
        client.disconnect()
        client.loop_stop()


def until_broker(condition: Callable[[], object], patience_s: float = _PATIENCE_S) -> None:
    """Wait until a condition holds, within the patience for a broker."""
    until(condition, patience_s)
