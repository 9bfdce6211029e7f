"""Keep the line to a broker open, and send waiting messages. The only module that needs aiomqtt."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from random import Random

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from engine.phrases import listed, phrase
from tallybone.finding import Finding
from tallybone.notify.findings import broker_found, wait_s
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
from tallybone.store.table_file import Broker, MqttSettings

log = logging.getLogger(__name__)
BrokerError = aiomqtt.MqttError
"""A failure while a line is open; the line is then opened again."""
KEEP_ALIVE_S = 20
"""A broker that hears nothing for one and a half times as long tells others that a table is offline."""
MOST_PACKET = 64 * 1024
"""Bytes of a message that the broker may hand over; a table's largest has a few thousand."""
_MOST_WAITING = 20_000
_ANSWERS_WITHIN_S = 8.0
# Codes of MQTT 3.1.1 and of 5 for a user or password that does not fit.
_REFUSED = frozenset({4, 5, 134, 135})

_ENDS_WITHIN_S = 2.0


class BrokerConnection:
    """Opens a line to a broker again and again, and lets somebody talk over it while it is open."""

    def __init__(self, broker: Broker, rng: Random, *, will: Message | None = None) -> None:
        """Connect to *broker*, which publishes *will* for this program once it hears nothing from it any more."""
        self._broker, self._rng, self._will = broker, rng, will
        self.problem: str | None = phrase("no line to {broker} yet", broker=broker.words)

    async def keep(self, talk: Callable[[aiomqtt.Client], Awaitable[None]]) -> None:
        """Let *talk* use the line whenever it is open, until it returns by itself."""
        failures = 0
        while True:
            was_open = False
            try:
                async with self._client() as client:
                    failures, was_open = 0, True
                    self._report(None)
                    await talk(client)
                return
            except (BrokerError, OSError) as error:
                failures += 1
                broke = phrase("the line to {broker} broke", broker=self._broker.words)
                self._report(broke if was_open else self.words_of(error))
            await asyncio.sleep(wait_s(failures, self._rng))

    async def once(self) -> str | None:
        """Open a line and close it without a message; return why that fails."""
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S), self._client():
                return None
        except TimeoutError:
            return phrase("{broker} does not answer", broker=self._broker.words)
        except (BrokerError, OSError) as error:
            return self.words_of(error)

    def words_of(self, error: Exception) -> str:
        """Return why there is no line, with the settings to check."""
        broker = self._broker
        code = getattr(getattr(error, "rc", None), "value", getattr(error, "rc", None))
        cause = error.__context__ or error  # the library turns errors into texts, and hides them
        if code in _REFUSED:
            # Everybody may read this at /health: it does not say which user.
            if broker.user is None:
                return phrase("{broker} lets nobody in without a user: set user and password_file", broker=broker.words)
            return phrase("{broker} does not let in the user: check user and password_file", broker=broker.words)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return phrase(
                "{broker} does not show who it is ({why}): check the address and ca_file",
                broker=broker.words,
                why=cause.verify_message,
            )
        if isinstance(cause, ssl.SSLError):
            return phrase(
                "{broker} does not speak TLS with us ({why}): check mqtts://, cert_file and key_file",
                broker=broker.words,
                why=str(cause.reason),
            )
        if isinstance(cause, ConnectionRefusedError):
            return phrase("no broker answers at {broker}", broker=broker.words)
        return listed((broker.words, str(error)), ": ")

    def _client(self) -> aiomqtt.Client:
        broker, will = self._broker, self._will
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho has no types there
        properties.MaximumPacketSize = MOST_PACKET
        return aiomqtt.Client(
            broker.host,
            broker.port,
            username=broker.user,
            password=broker.password,
            tls_context=broker.tls(),
            protocol=aiomqtt.ProtocolVersion.V5,
            properties=properties,
            will=None if will is None else aiomqtt.Will(will.topic, will.payload, 1, will.is_retained),
            keepalive=KEEP_ALIVE_S,
            max_queued_incoming_messages=_MOST_WAITING,
            logger=_quiet(),
        )

    def _report(self, problem: str | None) -> None:
        """Log how the line is, where that is new."""
        if problem == self.problem:
            return
        self.problem = problem
        if problem is None:
            log.info("line to %s is open", self._broker.words)
        else:
            log.warning("%s; trying again", problem)


def _quiet() -> logging.Logger:
    """Return a silent logger for the library: this module logs the facts that matter."""
    logger = logging.getLogger("tallybone.beyond.library")
    logger.setLevel(logging.CRITICAL)
    return logger


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
        self._line = BrokerConnection(settings.broker, rng, will=self._offline)
        self._outbox.put(Message(self._topics.of("availability"), ONLINE, is_retained=True))
        self._let_find(LEAST_SEATS)

    @property
    def found(self) -> Finding:
        """How the broker is reached; any thread may ask."""
        return broker_found(self._settings.broker.words, self._line.problem, self._outbox.lost)

    def tell(self, told: ToTell) -> None:
        """Send the news as soon as there is a line."""
        for what, said in told.states.items():
            players = said.get("players")
            if isinstance(players, list):
                self._let_find(len(players))
            self._outbox.put(Message(self._topics.of(what), as_payload(said), is_retained=True))
        for event in told.events:
            self._outbox.put(Message(self._topics.of("events"), as_payload(event.said), is_retained=False))
        self._something.set()

    def end(self) -> None:
        """Send the messages that are left, then that the table is offline, and return from `run`."""
        self._ends.set()
        self._something.set()

    async def run(self) -> None:
        """Publish until it is ended."""
        keeping = asyncio.create_task(self._line.keep(self._talk))
        ending = asyncio.create_task(self._ends.wait())
        await asyncio.wait((keeping, ending), return_when=asyncio.FIRST_COMPLETED)
        # Without a line nobody can take the goodbye.
        with suppress(TimeoutError):
            await asyncio.wait_for(keeping, _ENDS_WITHIN_S if self._line.problem is None else 0.0)
        ending.cancel()

    def _let_find(self, seats: int) -> None:
        """Announce the table to Home Assistant, again where there are more players than it knows."""
        if self._settings.discovery is None or seats <= self._seats:
            return
        self._seats = seats
        self._outbox.put(
            discovery_message(
                self._settings.discovery, self._topics, self._settings.place, seats=seats, version=self._version
            )
        )

    async def _talk(self, client: aiomqtt.Client) -> None:
        """Send all waiting messages, then each new one; return at the end."""
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
        """Send everything again whenever Home Assistant restarts; fails as soon as the line breaks."""
        if self._settings.discovery is not None:
            await client.subscribe(birth_topic(self._settings.discovery), qos=1)
        async for message in client.messages:
            if message.payload == ONLINE:
                self._outbox.all_again()
                self._something.set()
