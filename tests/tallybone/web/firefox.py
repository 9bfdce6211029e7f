"""Firefox for tests of the page: driven over WebDriver BiDi, which it speaks by itself, so that no driver is needed."""

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
_SAYS_WHERE = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
_PATIENCE_S, _PAUSE_MS = 30, 20
# A browser of its own, which asks nobody for anything.
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
        complaints: What the page has written into the console as an error.
    """

    socket: ClientConnection
    context: str = ""
    complaints: list[str] = field(default_factory=list)
    asked: int = 0

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return what the browser answers to a command, which has to be possible."""
        said = self._answer(method, **parameters)
        assert said["type"] == "success", said
        found: dict[str, Any] = said["result"]
        return found

    def _answer(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.asked += 1
        self.socket.send(json.dumps({"id": self.asked, "method": method, "params": parameters}))
        while True:
            said: dict[str, Any] = json.loads(self.socket.recv(_PATIENCE_S))
            if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
                self.complaints.append(str(said["params"]["text"]))
            if said.get("id") == self.asked:
                return said

    def go(self, address: str) -> None:
        """Open an address."""
        self.ask("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def evaluate(self, script: str) -> Any:
        """Return what an expression, or what it promises, is worth, through JSON."""
        said = self._answer("script.evaluate", **self._asking(f"(async () => JSON.stringify(await ({script})))()"))
        assert said.get("result", {}).get("type") == "success", said
        return json.loads(said["result"]["result"].get("value", "null"))

    def wait_for(self, condition: str) -> None:
        """Wait until an expression holds; while another page is being opened, nothing does."""
        pause = f"await new Promise((on) => setTimeout(on, {_PAUSE_MS}))"
        look = f"(async () => {{ {pause}; return Boolean({condition}); }})()"
        for _ in range(1000 * _PATIENCE_S // _PAUSE_MS):
            said = self._answer("script.evaluate", **self._asking(look)).get("result", {})
            if said.get("type") == "success" and said["result"]["value"]:
                return
        raise AssertionError(condition)

    def _asking(self, script: str) -> dict[str, Any]:
        return {"expression": script, "target": {"context": self.context}, "awaitPromise": True}

    def tap(self, selector: str) -> None:
        """Tap on an element with a real pointer, once it is there."""
        self.wait_for(f"document.querySelector({json.dumps(selector)})?.getClientRects().length > 0")
        left, top = self.evaluate(
            f"""(async () => {{
              const one = document.querySelector({json.dumps(selector)});
              one.scrollIntoView({{ block: "center" }});
              await new Promise(requestAnimationFrame);
              const {{ x, y, width, height }} = one.getBoundingClientRect();
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
        """Type into what has the focus."""
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.ask("input.performActions", context=self.context, actions=[{"type": "key", "id": "keys", "actions": keys}])

    def resize(self, width: int, height: int) -> None:
        """Show so many pixels."""
        self.ask("browsingContext.setViewport", context=self.context, viewport={"width": width, "height": height})

    def screenshot(self, path: Path) -> None:
        """Write what is seen."""
        path.write_bytes(base64.b64decode(self.ask("browsingContext.captureScreenshot", context=self.context)["data"]))


@contextmanager
def firefox(profile: Path) -> Iterator[FirefoxPage]:
    """Yield a page of a browser without a window, whose files are in the folder *profile*."""
    assert FIREFOX is not None
    profile.mkdir(exist_ok=True)
    settings = (f"user_pref({json.dumps(name)}, {json.dumps(worth)});" for name, worth in _SETTINGS.items())
    (profile / "user.js").write_text("\n".join(settings))
    command = [FIREFOX, "--headless", "--no-remote", "--profile", str(profile), "--remote-debugging-port", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        try:
            assert running.stderr is not None
            where = next(found[1] for line in running.stderr if (found := _SAYS_WHERE.search(line)))
            with connect(f"{where}/session", proxy=None, max_size=None) as socket:
                page = FirefoxPage(socket)
                page.ask("session.new", capabilities={})
                page.ask("session.subscribe", events=["log.entryAdded"])
                page.context = page.ask("browsingContext.create", type="tab")["context"]
                yield page
        finally:
            running.terminate()
