"""Publish a table to MQTT and webhooks from a separate thread, driven by the snapshots of the page."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from datetime import datetime
from ipaddress import ip_address
from random import Random
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from hardware.libraries import install_command
from tallybone.clock import software, wall_time
from tallybone.finding import Finding
from tallybone.notify.broker import WebhookThread
from tallybone.notify.mqtt import PageLink, Teller, ToTell
from tallybone.store.table_file import BeyondSettings, TableIdentity
from tallybone.web.live.actions import ButtonName, PressButton, Refused
from tallybone.web.live.feed import Acted, LiveFeed, PageRequest
from tallybone.web.live.shapes import Snapshot

log = logging.getLogger(__name__)

FindingsSource: TypeAlias = Callable[[], Iterable[Finding]]
Found: TypeAlias = Callable[[], tuple[Finding, ...]]
"""Function that returns a finding for each receiver. Thread-safe."""
# Maximum number of queued snapshots. At most twenty arrive per second, and they are processed at once, so the queue
# fills only if the machine hangs.
_MAX_WAITING = 200
_HEALTH_EVERY_S = 30.0
_ENDS_WITHIN_S = 4.0
_PRESSED_WITHIN_S = 5.0


class Beyond:
    """Publishes a table until it is closed."""

    def __init__(
        self,
        settings: BeyondSettings,
        health: FindingsSource,
        rng: Random,
        now: Callable[[], datetime],
        link: PageLink,
    ) -> None:
        """Publish to the receivers in *settings*.

        *health* must be thread-safe. *now* returns the current time. *link* leads to the page of the table.
        """
        self._settings, self._health, self._rng, self._now, self._link = settings, health, rng, now, link
        place = TableIdentity() if settings.mqtt is None else settings.mqtt.place
        self._teller = Teller(place, f"{rng.getrandbits(48):012x}")
        self._snapshots: deque[tuple[Snapshot, int]] = deque(maxlen=_MAX_WAITING)
        self._publishing = None
        if settings.mqtt is not None:
            from tallybone.notify.broker import Publishing

            self._publishing = Publishing(settings.mqtt, rng, software().rpartition(" ")[2], link)
        self._hooks = tuple(WebhookThread(hook, now, rng, software()) for hook in settings.webhooks)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake, self._ends = asyncio.Event(), False
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="beyond", daemon=True)
        self._thread.start()

    def follow(self, shown: Snapshot, number: int) -> None:
        """Queue a snapshot of match *number*.

        Returns immediately. If the queue is full, the oldest is dropped. Thread-safe.
        """
        self._snapshots.append((shown, number))
        self._stir()

    def found(self) -> tuple[Finding, ...]:
        """Return a finding for each receiver, the broker first."""
        broker = () if self._publishing is None else (self._publishing.found,)
        return (*broker, *(hook.found for hook in self._hooks))

    def close(self) -> None:
        """Send the offline message and stop, within a few seconds."""
        self._ends = True
        self._stir()
        self._thread.join(_ENDS_WITHIN_S)
        for hook in self._hooks:
            hook.close()

    def _stir(self) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop was closed meanwhile
                loop.call_soon_threadsafe(self._wake.set)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(_went_wrong)
        self._wake.set()  # Snapshots may have arrived before the loop started.
        if self._publishing is None:
            await self._tell_all()
            return
        looking = asyncio.create_task(self._look_after())
        running = asyncio.create_task(self._publishing.run())
        await self._tell_all()
        looking.cancel()
        self._publishing.end()
        await running

    async def _tell_all(self) -> None:
        """Publish every snapshot until closed."""
        while not self._ends:
            await self._wake.wait()
            self._wake.clear()
            while self._snapshots:
                self._tell(self._teller.follow(*self._snapshots.popleft(), self._at))

    def _tell(self, batch: ToTell) -> None:
        if self._publishing is not None:
            self._publishing.tell(batch)
        for hook in self._hooks:
            hook.tell(batch.events)

    async def _look_after(self) -> None:
        """Publish the health of the table every 30 s."""
        while True:
            self._tell(self._teller.health(tuple(await asyncio.to_thread(self._health)), self._at))
            await asyncio.sleep(_HEALTH_EVERY_S)

    @property
    def _at(self) -> str:
        return self._now().isoformat(timespec="milliseconds")


def _went_wrong(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Handle uncaught errors. OSErrors are expected, because the library still uses the socket of a lost connection."""
    if isinstance(context.get("exception"), OSError):
        log.debug("%s", context["exception"])
    else:
        loop.default_exception_handler(context)


def link_to(feed: LiveFeed, url: Callable[[], str], settings: BeyondSettings) -> PageLink:
    """Return access to the page of *feed* at *url* for clients of the broker in *settings*."""

    def press(button: ButtonName) -> None:
        """Press a button through the queue of the page. Must run in an event loop."""
        asked = feed.desk.ask(PageRequest(PressButton(type="press", button=button), "MQTT", None))
        if asked is None:
            log.warning("too many requests: ignored %s by MQTT", button)
            return
        asked.add_done_callback(report)
        asyncio.get_running_loop().call_later(_PRESSED_WITHIN_S, asked.cancel)

    def report(asked: Future[Acted | Refused]) -> None:
        if asked.cancelled():
            log.warning("the game does not respond: ignored a button pressed by MQTT")
        elif isinstance(refused := asked.result(), Refused):
            log.info("ignored a button pressed by MQTT: %s", refused.text)

    def reachable() -> str | None:
        address = url()
        return None if ip_address(urlsplit(address).hostname or "").is_loopback else address

    return PageLink(reachable, press if settings.mqtt is not None and settings.mqtt.has_buttons else None)


@contextmanager
def telling(
    settings: BeyondSettings, feed: LiveFeed, health: FindingsSource, url: Callable[[], str]
) -> Iterator[Found]:
    """Publish the table of *feed* to the receivers in *settings*, if any, until the end of the block.

    Yields a function that returns a finding for each receiver. *url* returns the current address of the page.

    Raises:
        OSError: If the MQTT library is not installed.
    """
    if settings == BeyondSettings():
        yield tuple
        return
    if settings.mqtt is not None:
        try:
            import aiomqtt as _  # noqa: F401 - only to check that it is installed
        except ModuleNotFoundError as error:
            raise OSError(f"[mqtt] needs {error.name}, which is not installed: {install_command('mqtt')}") from error
    beyond = Beyond(settings, health, Random(), wall_time, link_to(feed, url, settings))
    feed.follow(beyond.follow)
    try:
        yield beyond.found
    finally:
        feed.follow(None)
        beyond.close()
