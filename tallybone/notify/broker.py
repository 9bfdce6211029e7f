"""Keep a connection to the MQTT broker and send queued messages. The only module that needs aiomqtt."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from random import Random

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from engine.phrases import listed, phrase
from tallybone.finding import Finding
from tallybone.notify.events import Json
from tallybone.notify.findings import broker_found, wait_s
from tallybone.notify.mqtt import (
    MIN_SEATS,
    OFFLINE,
    ONLINE,
    Message,
    Outbox,
    PageLink,
    Topics,
    ToTell,
    as_payload,
    birth_topic,
    discovery_message,
    pressed_in,
)
from tallybone.store.table_file import Broker, MqttSettings

log = logging.getLogger(__name__)
BrokerError = aiomqtt.MqttError
"""A connection failure, after which the connection is retried."""
KEEP_ALIVE_S = 20
"""Keep-alive interval in seconds. After 1.5 times as long without a packet, the broker reports the table as offline."""
MAX_PACKET = 64 * 1024
"""Maximum size of a packet from the broker in bytes. The largest that a table sends has a few thousand."""
_MAX_WAITING = 20_000
_ANSWERS_WITHIN_S = 8.0
# Reason codes of MQTT 3.1.1 and 5 for a wrong user or password, or a user without permission.
_REFUSED = frozenset({4, 5, 134, 135})

_ENDS_WITHIN_S = 2.0


class BrokerConnection:
    """Connection to a broker with automatic retries."""

    def __init__(self, broker: Broker, rng: Random, *, will: Message | None = None) -> None:
        """Prepare a connection to *broker*, which publishes *will* as MQTT's last will when it loses contact."""
        self._broker, self._rng, self._will = broker, rng, will
        self.problem: str | None = phrase("not yet connected to {broker}", broker=broker.text)

    async def keep(self, talk: Callable[[aiomqtt.Client], Awaitable[None]]) -> None:
        """Connect, call *talk*, and reconnect after failures, until *talk* returns."""
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
                broke = phrase("lost the connection to {broker}", broker=self._broker.text)
                self._report(broke if was_open else self.words_of(error))
            await asyncio.sleep(wait_s(failures, self._rng))

    async def once(self) -> str | None:
        """Connect once and disconnect. Return None, or the reason for a failure."""
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S), self._client():
                return None
        except TimeoutError:
            return phrase("{broker} does not answer", broker=self._broker.text)
        except (BrokerError, OSError) as error:
            return self.words_of(error)

    def words_of(self, error: Exception) -> str:
        """Return the reason for a failed connection as text, if possible with the settings to check."""
        broker = self._broker
        code = getattr(getattr(error, "rc", None), "value", getattr(error, "rc", None))
        cause = error.__context__ or error  # aiomqtt converts errors to text and hides the original.
        if code in _REFUSED:
            # The user name is omitted, because anyone can read this message at /health.
            if broker.user is None:
                return phrase("{broker} requires a user: set user and password_file", broker=broker.text)
            return phrase("{broker} rejected the user: check user and password_file", broker=broker.text)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return phrase(
                "cannot verify the identity of {broker} ({why}): check the address and ca_file",
                broker=broker.text,
                why=cause.verify_message,
            )
        if isinstance(cause, ssl.SSLError):
            return phrase(
                "no TLS connection to {broker} ({why}): check mqtts://, cert_file and key_file",
                broker=broker.text,
                why=str(cause.reason),
            )
        if isinstance(cause, ConnectionRefusedError):
            return phrase("no broker answers at {broker}", broker=broker.text)
        return listed((broker.text, str(error)), ": ")

    def _client(self) -> aiomqtt.Client:
        broker, will = self._broker, self._will
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]  # paho has no types there
        properties.MaximumPacketSize = MAX_PACKET
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
            max_queued_incoming_messages=_MAX_WAITING,
            logger=_quiet(),
        )

    def _report(self, problem: str | None) -> None:
        """Set the problem of the connection, and log it if it has changed."""
        if problem == self.problem:
            return
        self.problem = problem
        if problem is None:
            log.info("connected to %s", self._broker.text)
        else:
            log.warning("%s; trying again", problem)


def _quiet() -> logging.Logger:
    """Return a silenced logger for the library, because this module logs what matters."""
    logger = logging.getLogger("tallybone.beyond.library")
    logger.setLevel(logging.CRITICAL)
    return logger


class Publishing:
    """Publishes a table over MQTT. Runs in one event loop."""

    def __init__(self, settings: MqttSettings, rng: Random, version: str, link: PageLink) -> None:
        """Publish according to *settings*. *version* is the version of this program, *link* leads to its page."""
        self._settings, self._version, self._link = settings, version, link
        self._topics = Topics(settings.prefix, settings.place.table)
        self._outbox = Outbox()
        self._seats = MIN_SEATS
        self._scores: Mapping[str, Json] = {}
        self._something, self._ends = asyncio.Event(), asyncio.Event()
        self._offline = Message(self._topics.of("availability"), OFFLINE, is_retained=True)
        self._line = BrokerConnection(settings.broker, rng, will=self._offline)
        self._outbox.put(Message(self._topics.of("availability"), ONLINE, is_retained=True))

    @property
    def found(self) -> Finding:
        """State of the connection, for the doctor. Thread-safe."""
        return broker_found(self._settings.broker.text, self._line.problem, self._outbox.lost)

    def tell(self, batch: ToTell) -> None:
        """Queue news, to be sent as soon as there is a connection."""
        for name, state in batch.states.items():
            players = state.get("players")
            if isinstance(players, list):
                self._seats, self._scores = max(self._seats, len(players)), state
                self._announce()
                continue
            self._outbox.put(Message(self._topics.of(name), as_payload(state), is_retained=True))
        for event in batch.events:
            self._outbox.put(Message(self._topics.of("events"), as_payload(event.payload), is_retained=False))
        self._something.set()

    def end(self) -> None:
        """Make `run` send the queued messages and the offline message, if connected, and return."""
        self._ends.set()
        self._something.set()

    async def run(self) -> None:
        """Publish until `end` is called."""
        keeping = asyncio.create_task(self._line.keep(self._talk))
        ending = asyncio.create_task(self._ends.wait())
        await asyncio.wait((keeping, ending), return_when=asyncio.FIRST_COMPLETED)
        # Without a connection, do not wait for the offline message.
        with suppress(TimeoutError):
            await asyncio.wait_for(keeping, _ENDS_WITHIN_S if self._line.problem is None else 0.0)
        ending.cancel()

    def _announce(self) -> None:
        """Publish the score with the address of the page, and the device for Home Assistant, if they have changed."""
        settings, link = self._settings, self._link
        if self._scores:
            scores = as_payload({**self._scores, "page": link.url()})
            self._outbox.put(Message(self._topics.of("scores"), scores, is_retained=True))
        if settings.discovery is not None:
            self._outbox.put(
                discovery_message(
                    settings.discovery, self._topics, settings.place, link, seats=self._seats, version=self._version
                )
            )

    async def _talk(self, client: aiomqtt.Client) -> None:
        """Send all states, then all queued and new messages, until `end` is called."""
        self._announce()  # A connection is lost when the address of the page changes.
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
        """Queue all states again whenever Home Assistant restarts, and pass on pressed buttons.

        Raises:
            BrokerError: When the connection is lost.
        """
        if self._settings.discovery is not None:
            await client.subscribe(birth_topic(self._settings.discovery), qos=1)
        press, topic = self._link.press, self._topics.of("press")
        if press is not None:
            await client.subscribe(topic, qos=0)  # With 1, a press could arrive twice.
        async for message in client.messages:
            if press is not None and message.topic.matches(topic):
                button = pressed_in(message.payload)
                if button is not None and not message.retain:  # A retained press would return with each connection.
                    press(button)
            elif message.payload == ONLINE:
                self._outbox.all_again()
                self._something.set()
