"""A running hub with a real MQTT broker, for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from tallybone.cli.hub import HubOptions, run_hub
from tallybone.terminal import StopRequest
from tests.tallybone.hub.messages import scores, state, topic
from tests.tallybone.notify.brokers import RealBroker, subscribed, until_broker


@dataclass(slots=True)
class ServedHub:
    """A running hub, with its output."""

    url: str
    out: StringIO


@contextmanager
def served_hub(broker: RealBroker, folder: Path) -> Iterator[ServedHub]:
    """Run a hub until the end of the block."""
    stop_request, out, codes = StopRequest(), StringIO(), []
    options = HubOptions(at="127.0.0.1:0", broker=broker.url)
    environment = {"XDG_STATE_HOME": str(folder)}

    def run() -> None:
        codes.append(run_hub(options, environment, folder, out=out, err=out, stop=lambda: nullcontext(stop_request)))

    thread = threading.Thread(target=run, name="hub")
    thread.start()
    try:
        until_broker(lambda: "hub http" in out.getvalue() or not thread.is_alive())
        assert "hub http" in out.getvalue(), out.getvalue()
        yield ServedHub(out.getvalue().split()[1], out)
    finally:
        stop_request.is_requested = True
        thread.join()
        assert codes == [0], out.getvalue()


class FakeTables:
    """Publishes the messages of many tables to a broker."""

    def __init__(self, broker: RealBroker) -> None:
        self._subscription = subscribed(broker, "nothing")
        self._client = self._subscription.__enter__().client

    def publish(self, table: str, kind: str, payload: bytes) -> None:
        until_broker(self._client.is_connected)
        self._client.publish(topic(table, kind), payload, qos=1, retain=True).wait_for_publish(30)

    def table(self, table: str, *totals: int, **more: object) -> None:
        """Publish the score, the state and the availability of a table."""
        self.publish(table, "scores", scores(*totals, **{"name": table, **more}))  # type: ignore[arg-type]
        self.publish(table, "state", state())
        self.publish(table, "availability", b"online")

    def close(self) -> None:
        self._subscription.__exit__(None, None, None)
