"""Firefox for tests of the page, driven over WebDriver BiDi, which needs no separate driver."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
_LISTENING_AT = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_PATIENCE_S, _PAUSE_MS = 30, 20
# A fresh profile that makes no network requests of its own.
_SETTINGS = {
    "app.update.auto": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "intl.accept_languages": "en-GB, en",
}


@dataclass(slots=True)
class FirefoxPage:
    """A page in Firefox.

    Attributes:
        complaints: Errors that the page wrote to the console.
    """

    socket: ClientConnection
    context: str = ""
    complaints: list[str] = field(default_factory=list)
    asked: int = 0

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the browser's answer to a command, which must succeed."""
        reply = self._answer(method, **parameters)
        assert reply["type"] == "success", reply
        result: dict[str, Any] = reply["result"]
        return result

    def _answer(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.asked += 1
        self.socket.send(json.dumps({"id": self.asked, "method": method, "params": parameters}))
        while True:
            message: dict[str, Any] = json.loads(self.socket.recv(_PATIENCE_S))
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.complaints.append(str(message["params"]["text"]))
            if message.get("id") == self.asked:
                return message

    def go(self, address: str) -> None:
        """Open an address."""
        self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression, or of its promise, through JSON."""
        reply = self._answer("script.evaluate", **self._asking(f"(async () => JSON.stringify(await ({script})))()"))
        assert reply.get("result", {}).get("type") == "success", reply
        return json.loads(reply["result"]["result"].get("value", "null"))

    def wait_for(self, condition: str) -> None:
        """Wait until an expression holds. It counts as false while another page is loading."""
        pause = f"await new Promise((on) => setTimeout(on, {_PAUSE_MS}))"
        look = f"(async () => {{ {pause}; return Boolean({condition}); }})()"
        for _ in range(1000 * _PATIENCE_S // _PAUSE_MS):
            reply = self._answer("script.evaluate", **self._asking(look)).get("result", {})
            if reply.get("type") == "success" and reply["result"]["value"]:
                return
        raise AssertionError(condition)

    def _asking(self, script: str) -> dict[str, Any]:
        return {"expression": script, "target": {"context": self.context}, "awaitPromise": True}

    def tap(self, selector: str) -> None:
        """Tap an element with a real pointer, once it is visible."""
        self.wait_for(f"document.querySelector({json.dumps(selector)})?.getClientRects().length > 0")
        left, top = self.evaluate(
            f"""(async () => {{
              const element = document.querySelector({json.dumps(selector)});
              element.scrollIntoView({{ block: "center" }});
              await new Promise(requestAnimationFrame);
              const {{ x, y, width, height }} = element.getBoundingClientRect();
              return [Math.round(x + width / 2), Math.round(y + height / 2)];
            }})()"""
        )
        actions = [
            {"type": "pointerMove", "x": left, "y": top},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self.ask(
            "input.performActions",
            context=self.context,
            actions=[{"type": "pointer", "id": "finger", "actions": actions}],
        )

    def type(self, text: str) -> None:
        """Type into the focused element."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.ask("input.performActions", context=self.context, actions=[{"type": "key", "id": "keys", "actions": keys}])

    def resize(self, width: int, height: int) -> None:
        """Set the size of the viewport in pixels."""
        self.ask("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.ask("browsingContext.captureScreenshot", context=self.context)["data"]))


@contextmanager
def firefox(profile: Path) -> Iterator[FirefoxPage]:
    """Yield a page of a headless browser whose profile is in the folder *profile*."""
    assert FIREFOX is not None
    profile.mkdir(exist_ok=True)
    settings = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in _SETTINGS.items())
    (profile / "user.js").write_text("\n".join(settings))
    command = [FIREFOX, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = next(found[1] for line in process.stderr if (found := _LISTENING_AT.search(line)))
            with connect(f"{address}/session", proxy=None, max_size=None) as socket:
                page = FirefoxPage(socket)
                page.ask("session.new", capabilities={})
                page.ask("session.subscribe", events=["log.entryAdded"])
                page.context = page.ask("browsingContext.create", type="tab")["context"]
                yield page
        finally:
            process.terminate()
