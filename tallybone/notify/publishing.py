"""What a table says to its broker while the line is open: all that waits, and everything again where that is wanted."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from random import Random

import aiomqtt

from tallybone.finding import Finding
from tallybone.notify.broker import Line
from tallybone.notify.findings import broker_found
from tallybone.notify.mqtt import (
    LEAST_SEATS,
    OFFLINE,
    ONLINE,
    Message,
    Outbox,
    Topics,
    ToTell,
    as_payload,
    birth_topic,
    discovery_message,
)
from tallybone.store.table_file import MqttSettings

_ENDS_WITHIN_S = 2.0


class Publishing:
    """The side of a table that speaks MQTT; all of it happens in one loop."""

    def __init__(self, settings: MqttSettings, rng: Random, version: str) -> None:
        """Publish as *settings* say; *version* is that of this program."""
        self._settings, self._version = settings, version
        self._topics = Topics(settings.prefix, settings.place.table)
        self._outbox = Outbox()
        self._seats = 0
        self._something, self._ends = asyncio.Event(), asyncio.Event()
        self._offline = Message(self._topics.of("availability"), OFFLINE, is_retained=True)
        self._line = Line(settings.broker, rng, will=self._offline)
        self._outbox.put(Message(self._topics.of("availability"), ONLINE, is_retained=True))
        self._let_find(LEAST_SEATS)

    @property
    def problem(self) -> str | None:
        """Why nothing arrives; None while it does."""
        return self._line.problem

    @property
    def found(self) -> Finding:
        """How the broker is reached; any thread may ask."""
        return broker_found(self._settings.broker.words, self.problem, self._outbox.lost)

    def tell(self, told: ToTell) -> None:
        """Send what is new, as soon as there is a line."""
        for what, said in told.states.items():
            players = said.get("players")
            if isinstance(players, list):
                self._let_find(len(players))
            self._outbox.put(Message(self._topics.of(what), as_payload(said), is_retained=True))
        for event in told.events:
            self._outbox.put(Message(self._topics.of("events"), as_payload(event.said), is_retained=False))
        self._something.set()

    def end(self) -> None:
        """Say what is left to say, then that the table is offline, and return from `run`."""
        self._ends.set()
        self._something.set()

    async def run(self) -> None:
        """Publish until it is ended."""
        keeping = asyncio.create_task(self._line.keep(self._talk))
        ending = asyncio.create_task(self._ends.wait())
        await asyncio.wait((keeping, ending), return_when=asyncio.FIRST_COMPLETED)
        # Without a line there is nobody to say goodbye to.
        wait_s = _ENDS_WITHIN_S if self.problem is None else 0.0
        with suppress(TimeoutError):
            await asyncio.wait_for(keeping, wait_s)
        ending.cancel()

    def _let_find(self, seats: int) -> None:
        """Tell Home Assistant of the table, anew where there are more players than it knows."""
        if self._settings.discovery is None or seats <= self._seats:
            return
        self._seats = seats
        self._outbox.put(
            discovery_message(
                self._settings.discovery, self._topics, self._settings.place, seats=seats, version=self._version
            )
        )

    async def _talk(self, client: aiomqtt.Client) -> None:
        """Send all that waits, and what comes; return at the end."""
        self._outbox.all_again()
        tasks = (asyncio.create_task(self._send(client)), asyncio.create_task(self._hear(client)))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _send(self, client: aiomqtt.Client) -> None:
        while True:
            message = self._outbox.next()
            if message is not None:
                await client.publish(message.topic, message.payload, qos=1, retain=message.is_retained)
                self._outbox.went(message)
            elif self._ends.is_set():
                await client.publish(self._offline.topic, self._offline.payload, qos=1, retain=True)
                return
            else:
                self._something.clear()
                await self._something.wait()

    async def _hear(self, client: aiomqtt.Client) -> None:
        """Tell everything again whenever Home Assistant has begun anew; fails as soon as the line breaks."""
        if self._settings.discovery is not None:
            await client.subscribe(birth_topic(self._settings.discovery), qos=1)
        async for message in client.messages:
            if message.payload == ONLINE:
                self._outbox.all_again()
                self._something.set()
