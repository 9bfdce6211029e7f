"""Send signed events to a web address, one after another, in a thread of its own."""

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
MOST_WAITING = 200
"""So many events wait for an address; with more, the oldest go."""
MOST_TRIES = 5
_TIMEOUT_S = 5.0
_FIRST_WAIT_S, _MOST_WAIT_S = 0.5, 30.0
_ENDS_WITHIN_S = 1.0
# With these codes an address may take it later; any other "no" stays one.
_LATER = frozenset({408, 425, 429})
_MOST_ANSWER = 1024

HEADER = "Tallybone-Signature"


def name_of(hook: Webhook) -> str:
    """Return its scheme and host; the path behind them may be a secret.

    >>> name_of(Webhook(url="https://lights.local:8443/hooks/a-long-secret"))
    'https://lights.local:8443'
    """
    where = urlsplit(hook.url)
    return f"{where.scheme}://{where.netloc}"


def line_to(hook: Webhook) -> http.client.HTTPConnection:
    """Return a connection to a web address, which is not open yet.

    Raises:
        OSError: If the file of certificates cannot be read.
    """
    where = urlsplit(hook.url)
    assert where.hostname is not None  # the settings have looked
    if where.scheme == "http":
        return http.client.HTTPConnection(where.hostname, where.port, timeout=_TIMEOUT_S)
    context = ssl.create_default_context(cafile=hook.ca_file)
    return http.client.HTTPSConnection(where.hostname, where.port, timeout=_TIMEOUT_S, context=context)


def try_webhook(hook: Webhook) -> str | None:
    """Open a line to a web address and close it without a message; return why that fails."""
    try:
        with closing(line_to(hook)) as line:
            line.connect()
    except (OSError, http.client.HTTPException) as error:
        return f"{name_of(hook)}: {error}"
    return None


class WebhookThread:
    """Sends events to one address until it is closed."""

    def __init__(self, hook: Webhook, wall_time: Callable[[], datetime], rng: Random, user_agent: str) -> None:
        """Send the events that *hook* wants."""
        self._hook, self._wall_time, self._rng, self._agent = hook, wall_time, rng, user_agent
        self._where, self._name = urlsplit(hook.url), name_of(hook)
        self._waiting: deque[bytes] = deque(maxlen=MOST_WAITING)
        self._something, self._ends = threading.Event(), threading.Event()
        self.problem: str | None = None
        self._lost = 0
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)
        self._thread.start()

    @property
    def found(self) -> Finding:
        """How the address takes events; any thread may ask."""
        return webhook_found(self._name, self.problem, self._lost)

    def tell(self, events: tuple[TableEvent, ...]) -> None:
        """Send the events that are wanted, as soon as possible."""
        wanted = [event for event in events if event.kind in self._hook.events]
        for event in wanted:
            table = {} if self._hook.table is None else {"table": self._hook.table}
            self._lost += len(self._waiting) == MOST_WAITING
            self._waiting.append(as_payload({**event.said, **table}))
        if wanted:
            self._something.set()

    def close(self) -> None:
        """Send no more; an event on its way gets a moment."""
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
        """Send an event, and retry a few times; then drop it."""
        for failures in range(1, MOST_TRIES + 1):
            problem, may_help = self._post(body)
            self._report(problem)
            if problem is None:
                return
            if not may_help or failures == MOST_TRIES:
                self._lost += 1
                return
            if self._ends.wait(wait_s(failures, self._rng, first_s=_FIRST_WAIT_S, most_s=_MOST_WAIT_S)):
                return

    def _post(self, body: bytes) -> tuple[str | None, bool]:
        """Send it once; return the problem, and whether a retry may help."""
        headers = {"Content-Type": "application/json", "User-Agent": self._agent}
        if self._hook.secret is not None:
            headers[HEADER] = signature(self._hook.secret, int(self._wall_time().timestamp()), body)
        path = self._where.path or "/"
        target = f"{path}?{self._where.query}" if self._where.query else path
        try:
            with closing(line_to(self._hook)) as line:
                line.request("POST", target, body, headers)
                answer = line.getresponse()
                answer.read(_MOST_ANSWER)
                status = answer.status
        except (OSError, http.client.HTTPException) as error:
            return listed((self._name, str(error)), ": "), True
        if 200 <= status < 300:
            return None, False
        return phrase(
            "{address} answers {status}", address=self._name, status=status
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
    """Return the value of the header: the time (seconds since 1970), and HMAC-SHA256 over "TIME.BODY".

    >>> signature("secret", 1700000000, b"{}")[:30]
    't=1700000000,v1=b8569b78799ff9'
    """
    digest = hmac.new(secret.encode("utf-8"), f"{at_s}.".encode("ascii") + body, hashlib.sha256).hexdigest()
    return f"t={at_s},v1={digest}"
