"""Script for `unshare -n`, which gives it its own network: the network goes down in a match and comes back."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

from websockets.sync.client import connect

from tests.tallybone.serve.served import at_served_table
from tests.tallybone.serve.test_matches import NEW, act, wait_for_match
from tests.tallybone.serve.test_metrics import fetched, samples
from tests.tallybone.web.true_table import PIN
from tests.waiting import until

_AWAY_S = 2.0


def link(state: str) -> None:
    subprocess.run(("ip", "link", "set", "lo", state), check=True)


def main(folder: Path) -> None:
    """Play with a continuous stream of pictures, and give points before and after the outage."""
    link("up")
    over = threading.Event()
    with at_served_table(folder) as table, table.client() as client:

        def show() -> None:
            while not over.wait(0.05):
                table.plugs.show()

        pictures = threading.Thread(target=show)
        pictures.start()
        try:
            assert client.post("/match", json=NEW).status_code == 204
            assert client.post("/login", json={"pin": PIN}).status_code == 204
            wait_for_match(client)
            assert act(client, type="points", seat=0, points=5).status_code == 200
            with connect(table.url.replace("http", "ws") + "/api/v1/live") as watching:
                before = samples(fetched(table, "/metrics").text)["tallybone_frames_seen_total"]
                link("down")
                over.wait(_AWAY_S)
                link("up")
                after = samples(fetched(table, "/metrics").text)["tallybone_frames_seen_total"]
                assert after - before > _AWAY_S * 5, "the game stopped"
                assert act(client, type="points", seat=0, points=10).status_code == 200, "the cookie is still valid"
                until(lambda: json.loads(watching.recv())["players"][0]["total"] == 15)
        finally:
            over.set()
            pictures.join()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
