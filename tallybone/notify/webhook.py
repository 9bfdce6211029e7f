"""Send signed events to a webhook, in order, from a separate thread."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import logging
import ssl
import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from random import Random
from urllib.parse import urlsplit

from engine.phrases import listed, phrase
from tallybone.finding import Finding
from tallybone.notify.events import TableEvent
from tallybone.notify.findings import wait_s, webhook_found
from tallybone.notify.mqtt import as_payload
from tallybone.store.table_file import Webhook

log = logging.getLogger(__name__)
MAX_WAITING = 200
"""Maximum number of queued events. If there are more, the oldest are dropped."""
MAX_TRIES = 5
_TIMEOUT_S = 5.0
_FIRST_WAIT_S, _MAX_WAIT_S = 0.5, 30.0
_ENDS_WITHIN_S = 1.0
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

    def tell(self, events: tuple[TableEvent, ...]) -> None:
        """Queue those of the events that the webhook selects."""
        wanted = [event for event in events if event.kind in self._hook.events]
        for event in wanted:
            table = {} if self._hook.table is None else {"table": self._hook.table}
            self._lost += len(self._waiting) == MAX_WAITING
            self._waiting.append(as_payload({**event.payload, **table}))
        if wanted:
            self._something.set()

    def close(self) -> None:
        """Stop. An event being sent gets one second to finish."""
        self._ends.set()
        self._something.set()
        self._thread.join(_ENDS_WITHIN_S)

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
