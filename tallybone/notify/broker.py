"""Keep a connection to the MQTT broker and call webhooks. The only module that needs aiomqtt."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import http.client
import logging
import ssl
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing, suppress
from datetime import datetime
from random import Random
from urllib.parse import urlsplit

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from engine.phrases import Phrase, listed, phrase, plural
from tallybone.finding import Finding, ok, problem, warning
from tallybone.notify import mqtt
from tallybone.store.table_file import Broker, MqttSettings, Webhook

FIRST_S = 1.0
MAX_S = 60.0


def broker_found(broker: str, why_not: str | None, lost: int = 0) -> Finding:
    """Return a finding about a broker. *why_not* is its problem, if any, *lost* the number of events that were dropped.

    >>> broker_found("mqtt://hub:1883", None, 3).text
    'mqtt://hub:1883: 3 events were dropped: the connection was down for too long'
    """
    part = phrase("broker")
    if why_not is not None:
        return problem(
            part, why_not, phrase("The game goes on. The current score is sent once the connection is back.")
        )
    if lost:
        never = plural(
            "1 event was dropped: the connection was down for too long",
            "{number} events were dropped: the connection was down for too long",
            number=lost,
        )
        return warning(part, listed((broker, never), ": "))
    return ok(part, broker)


def webhook_found(address: str, why_not: str | None, lost: int = 0) -> Finding:
    """Return a finding about a webhook. *why_not* is its problem, if any, *lost* the number of events not delivered."""
    part = phrase("webhook")
    if why_not is not None:
        text = listed((why_not, _never_taken(lost)), "; ") if lost else why_not
        return problem(part, text, phrase("The game goes on, and later events are sent."))
    if lost:
        return warning(part, listed((address, _never_taken(lost)), ": "))
    return ok(part, address)


def _never_taken(number: int) -> Phrase:
    return plural("1 event was rejected", "{number} events were rejected", number=number)


def wait_s(failures: int, rng: Random, *, first_s: float = FIRST_S, max_s: float = MAX_S) -> float:
    """Return the delay before a retry in seconds: exponential backoff with jitter.

    The jitter keeps hundreds of tables from reconnecting at once when their broker restarts.

    >>> [round(wait_s(failures, Random(1)), 1) for failures in (1, 2, 3, 20)]
    [0.6, 1.1, 2.3, 34.0]
    """
    whole_s = min(max_s, first_s * 2.0 ** min(failures - 1, 20))
    return whole_s * (0.5 + rng.random() / 2)


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

    def __init__(self, broker: Broker, rng: Random, *, will: mqtt.Message | None = None) -> None:
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

    def __init__(self, settings: MqttSettings, rng: Random, version: str, link: mqtt.PageLink) -> None:
        """Publish according to *settings*. *version* is the version of this program, *link* leads to its page."""
        self._settings, self._version, self._link = settings, version, link
        self._topics = mqtt.Topics(settings.prefix, settings.place.table)
        self._outbox = mqtt.Outbox()
        self._seats = mqtt.MIN_SEATS
        self._scores: Mapping[str, mqtt.Json] = {}
        self._something, self._ends = asyncio.Event(), asyncio.Event()
        self._offline = mqtt.Message(self._topics.of("availability"), mqtt.OFFLINE, is_retained=True)
        self._line = BrokerConnection(settings.broker, rng, will=self._offline)
        self._outbox.put(mqtt.Message(self._topics.of("availability"), mqtt.ONLINE, is_retained=True))

    @property
    def found(self) -> Finding:
        """State of the connection, for the doctor. Thread-safe."""
        return broker_found(self._settings.broker.text, self._line.problem, self._outbox.lost)

    def tell(self, batch: mqtt.ToTell) -> None:
        """Queue news, to be sent as soon as there is a connection."""
        for name, state in batch.states.items():
            players = state.get("players")
            if isinstance(players, list):
                self._seats, self._scores = max(self._seats, len(players)), state
                self._announce()
                continue
            self._outbox.put(mqtt.Message(self._topics.of(name), mqtt.as_payload(state), is_retained=True))
        for event in batch.events:
            self._outbox.put(mqtt.Message(self._topics.of("events"), mqtt.as_payload(event.payload), is_retained=False))
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
            scores = mqtt.as_payload({**self._scores, "page": link.url()})
            self._outbox.put(mqtt.Message(self._topics.of("scores"), scores, is_retained=True))
        if settings.discovery is not None:
            self._outbox.put(
                mqtt.discovery_message(
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
        """Queue all states again whenever Home Assistant restarts, and pass on pressed buttons."""
        if self._settings.discovery is not None:
            await client.subscribe(mqtt.birth_topic(self._settings.discovery), qos=1)
        press, topic = self._link.press, self._topics.of("press")
        if press is not None:
            await client.subscribe(topic, qos=0)  # With 1, a press could arrive twice.
        async for message in client.messages:
            if press is not None and message.topic.matches(topic):
                button = mqtt.pressed_in(message.payload)
                if button is not None and not message.retain:  # A retained press would return with each connection.
                    press(button)
            elif message.payload == mqtt.ONLINE:
                self._outbox.all_again()
                self._something.set()


MAX_WAITING = 200
"""Maximum number of queued events. If there are more, the oldest are dropped."""
MAX_TRIES = 5
_TIMEOUT_S = 5.0
_FIRST_WAIT_S = 0.5
_MAX_WAIT_S = 30.0
_WEBHOOK_ENDS_WITHIN_S = 1.0
# Status codes below 500 after which a retry may succeed. Other codes below 500 are final.
_LATER = frozenset({408, 425, 429})
_MAX_ANSWER = 1024

HEADER = "Tallybone-Signature"


def name_of(hook: Webhook) -> str:
    """Return scheme, host and port of a webhook, without the path, which may be secret.

    >>> name_of(Webhook(url="https://lights.local:8443/hooks/a-long-secret"))
    'https://lights.local:8443'
    """
    where = urlsplit(hook.url)
    return f"{where.scheme}://{where.netloc}"


def line_to(hook: Webhook) -> http.client.HTTPConnection:
    """Return an unopened connection to a webhook.

    Raises:
        OSError: If the certificate file cannot be read.
    """
    where = urlsplit(hook.url)
    assert where.hostname is not None  # validated with the settings
    if where.scheme == "http":
        return http.client.HTTPConnection(where.hostname, where.port, timeout=_TIMEOUT_S)
    context = ssl.create_default_context(cafile=hook.ca_file)
    return http.client.HTTPSConnection(where.hostname, where.port, timeout=_TIMEOUT_S, context=context)


def try_webhook(hook: Webhook) -> str | None:
    """Connect to a webhook and disconnect. Return None, or the reason for a failure."""
    try:
        with closing(line_to(hook)) as line:
            line.connect()
    except (OSError, http.client.HTTPException) as error:
        return f"{name_of(hook)}: {error}"
    return None


class WebhookThread:
    """Sends events to a webhook until it is closed."""

    def __init__(self, hook: Webhook, wall_time: Callable[[], datetime], rng: Random, user_agent: str) -> None:
        """Start a thread that sends the events selected by *hook*."""
        self._hook, self._wall_time, self._rng, self._agent = hook, wall_time, rng, user_agent
        self._where, self._name = urlsplit(hook.url), name_of(hook)
        self._waiting: deque[bytes] = deque(maxlen=MAX_WAITING)
        self._something, self._ends = threading.Event(), threading.Event()
        self.problem: str | None = None
        self._lost = 0
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)
        self._thread.start()

    @property
    def found(self) -> Finding:
        """State of the webhook, for the doctor. Thread-safe."""
        return webhook_found(self._name, self.problem, self._lost)

    def tell(self, events: tuple[mqtt.TableEvent, ...]) -> None:
        """Queue those of the events that the webhook selects."""
        wanted = [event for event in events if event.kind in self._hook.events]
        for event in wanted:
            table = {} if self._hook.table is None else {"table": self._hook.table}
            self._lost += len(self._waiting) == MAX_WAITING
            self._waiting.append(mqtt.as_payload({**event.payload, **table}))
        if wanted:
            self._something.set()

    def close(self) -> None:
        """Stop. An event being sent gets one second to finish."""
        self._ends.set()
        self._something.set()
        self._thread.join(_WEBHOOK_ENDS_WITHIN_S)

    def _run(self) -> None:
        while not self._ends.is_set():
            self._something.wait()
            self._something.clear()
            while self._waiting and not self._ends.is_set():
                self._deliver(self._waiting.popleft())

    def _deliver(self, body: bytes) -> None:
        """Send an event with up to MAX_TRIES tries, fewer if a retry cannot help, then drop it."""
        for failures in range(1, MAX_TRIES + 1):
            problem, may_help = self._post(body)
            self._report(problem)
            if problem is None:
                return
            if not may_help or failures == MAX_TRIES:
                self._lost += 1
                return
            if self._ends.wait(wait_s(failures, self._rng, first_s=_FIRST_WAIT_S, max_s=_MAX_WAIT_S)):
                return

    def _post(self, body: bytes) -> tuple[str | None, bool]:
        """Send an event once. Return the problem, or None, and True if a retry may help."""
        headers = {"Content-Type": "application/json", "User-Agent": self._agent}
        if self._hook.secret is not None:
            headers[HEADER] = signature(self._hook.secret, int(self._wall_time().timestamp()), body)
        path = self._where.path or "/"
        target = f"{path}?{self._where.query}" if self._where.query else path
        try:
            with closing(line_to(self._hook)) as line:
                line.request("POST", target, body, headers)
                answer = line.getresponse()
                answer.read(_MAX_ANSWER)
                status = answer.status
        except (OSError, http.client.HTTPException) as error:
            return listed((self._name, str(error)), ": "), True
        if 200 <= status < 300:
            return None, False
        return phrase(
            "{address} answered {status}", address=self._name, status=status
        ), status in _LATER or status >= 500

    def _report(self, problem: str | None) -> None:
        if problem == self.problem:
            return
        self.problem = problem
        if problem is None:
            log.info("webhook %s works again", self._name)
        else:
            log.warning("webhook %s", problem)


def signature(secret: str, at_s: int, body: bytes) -> str:
    """Return the signature header: the Unix time in seconds, and the HMAC-SHA256 of "TIME.BODY".

    >>> signature("secret", 1700000000, b"{}")[:30]
    't=1700000000,v1=b8569b78799ff9'
    """
    digest = hmac.new(secret.encode("utf-8"), f"{at_s}.".encode("ascii") + body, hashlib.sha256).hexdigest()
    return f"t={at_s},v1={digest}"
