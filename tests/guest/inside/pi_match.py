"""Begin a match in the guest, and print what the page shows after some seconds: pi_match.py PIN SECONDS."""

from __future__ import annotations

import json
import sys
import threading

from tests.guest.inside.players import ask, offered


def main(pin: str, seconds: float) -> None:
    """Begin a match, and print the state."""
    offered()
    ask("login", {"pin": pin, "name": "lab"})
    ask("match", {"game": "bones", "options": {}, "players": ["Ann", "Ben"]})
    threading.Event().wait(seconds)
    json.dump(ask("state"), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
