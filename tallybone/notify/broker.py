"""The line to a broker: opened again by itself for as long as the program runs. The only module that needs aiomqtt."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from random import Random

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from engine.phrases import Phrase, listed, phrase
from tallybone.notify.backoff import wait_s
from tallybone.notify.mqtt import Message
from tallybone.store.table_file import Broker

log = logging.getLogger(__name__)

BrokerError = aiomqtt.MqttError
"""What goes wrong while a line is open; the line is then opened again."""

KEEP_ALIVE_S = 20
"""A broker that hears nothing for one and a half times as long tells others that a table is offline."""
MOST_PACKET = 64 * 1024
"""Bytes of a message that the broker may hand over; a table's largest has a few thousand."""
_MOST_WAITING = 20_000
_ANSWERS_WITHIN_S = 8.0
# Codes of MQTT 3.1.1 and of 5 for a user or password that does not fit.
_REFUSED = frozenset({4, 5, 134, 135})


class Line:
    """Opens a line to a broker again and again, and lets somebody talk over it while it is open."""

    def __init__(self, broker: Broker, rng: Random, *, will: Message | None = None) -> None:
        """Speak to *broker*, which says *will* for this program once it hears nothing of it any more."""
        self._broker, self._rng, self._will = broker, rng, will
        self.problem: str | None = phrase("no line to {broker} yet", broker=broker.words)

    async def keep(self, talk: Callable[[aiomqtt.Client], Awaitable[None]]) -> None:
        """Let *talk* have the line whenever there is one, until it returns by itself."""
        failures = 0
        while True:
            was_open = False
            try:
                async with self._client() as client:
                    failures, was_open = 0, True
                    self._say(None)
                    await talk(client)
                return
            except (BrokerError, OSError) as error:
                failures += 1
                self._say(self._broke if was_open else self.words_of(error))
            await asyncio.sleep(wait_s(failures, self._rng))

    async def once(self) -> str | None:
        """Open a line and close it, saying nothing; return why that cannot be."""
        try:
            async with asyncio.timeout(_ANSWERS_WITHIN_S), self._client():
                return None
        except TimeoutError:
            return phrase("{broker} does not answer", broker=self._broker.words)
        except (BrokerError, OSError) as error:
            return self.words_of(error)

    def words_of(self, error: Exception) -> str:
        """Return why there is no line, so that whoever has set it up knows where to look."""
        broker = self._broker
        code = getattr(getattr(error, "rc", None), "value", getattr(error, "rc", None))
        cause = error.__context__ or error  # the library makes texts of what went wrong, and hides it
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

    @property
    def _broke(self) -> Phrase:
        return phrase("the line to {broker} broke", broker=self._broker.words)

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

    def _say(self, problem: str | None) -> None:
        """Log how the line is, where that is new."""
        if problem == self.problem:
            return
        self.problem = problem
        if problem is None:
            log.info("line to %s is open", self._broker.words)
        else:
            log.warning("%s; trying again", problem)


def _quiet() -> logging.Logger:
    """Return where the library logs: what matters of it is said here."""
    logger = logging.getLogger("tallybone.beyond.library")
    logger.setLevel(logging.CRITICAL)
    return logger
