"""Measure one broker and one hub with many tables: messages, delay of plays on the hub's page, CPU and memory.

    python -m lab.bench.hub [--tables 500,1000,2000] [--seconds 60] [--every 10]

Everything is real except the tables' games: a Mosquitto, a `tallybone hub`, one viewer of its page, and another process
with an MQTT connection for each table, over which it publishes like a table. Each table has a play about every ten
seconds. "Late" is the time from the play until the viewer has received it.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from websockets.asyncio.client import connect

from lab.bench.material.harness import options_of
from tallybone.finding import Grade, ok
from tallybone.notify.broker import Publishing
from tallybone.notify.mqtt import PageLink, Teller, ToTell
from tallybone.store.table_file import Broker, MqttSettings, TableIdentity
from tallybone.web.live.shapes import PlayShown
from tests.tallybone.notify.brokers import MOSQUITTO, WHY_NOT, real_broker
from tests.tallybone.notify.snapshots import lobby, played, players, shown

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PLAYS_OF_A_HAND = 14
_AT = "2026-05-01T20:00:00.000+02:00"


def main() -> None:
    args = options_of(__doc__, tables="500,1000,2000", seconds=60.0, every=10.0, play=(int, None))
    if args.play is not None:
        asyncio.run(_play(args.play, int(args.tables), args.every))
        return
    if MOSQUITTO is None:
        print(WHY_NOT)
        return
    print("| tables | plays/s | messages/s | late, half | late, 95 % | broker | hub | tables' process | load |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for tables in map(int, args.tables.split(",")):
        print(asyncio.run(_measure(tables, args.seconds, args.every)), flush=True)


async def _measure(tables: int, seconds: float, every_s: float) -> str:
    """Measure with a number of tables, and return a row of the results."""
    with tempfile.TemporaryDirectory() as folder, real_broker(Path(folder)) as broker:
        assert broker.process is not None
        hub = [sys.executable, "-c", "from tallybone.cli import main; main()", "hub", "--broker", broker.url]
        options = f"--play {broker.port} --tables {tables} --every {every_s}"
        play = [sys.executable, "-m", "lab.bench.hub", *options.split()]
        with (
            subprocess.Popen([*hub, "--at", "127.0.0.1:0", "--results", "none"], stdout=subprocess.PIPE) as served,
            subprocess.Popen(play, stdout=subprocess.PIPE) as playing,
        ):
            assert served.stdout is not None
            assert playing.stdout is not None
            try:
                url = served.stdout.readline().decode().split()[1]
                await asyncio.to_thread(playing.stdout.readline)  # all are connected
                costs = tuple(_Cost.of(process.pid) for process in (broker.process, served, playing))
                began_s = time.monotonic()
                late_ms = await _watch(url, tables, seconds)
                took_s = time.monotonic() - began_s
                shares = [cost.text(took_s) for cost in costs]
            finally:
                playing.terminate()
                playing.wait()
                per_s = float(playing.stdout.read())
                served.terminate()
    if not late_ms:
        return f"| {tables} | none of {per_s:.0f} messages a second arrived |"
    half, most = late_ms[len(late_ms) // 2], late_ms[len(late_ms) * 95 // 100]
    pace = f"{len(late_ms) / took_s:.0f} | {per_s:.0f}"
    return f"| {tables} | {pace} | {half:.0f} ms | {most:.0f} ms | {' | '.join(shares)} | {os.getloadavg()[0]:.1f} |"


@dataclass(frozen=True, slots=True)
class _Cost:
    """CPU time of a process so far."""

    pid: int
    cpu_s: float

    @classmethod
    def of(cls, pid: int) -> _Cost:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return cls(pid, (int(fields[11]) + int(fields[12])) / _TICKS_PER_S)

    def text(self, took_s: float) -> str:
        """Describe the CPU load since the start, and the memory now."""
        share = 100 * (_Cost.of(self.pid).cpu_s - self.cpu_s) / took_s
        kept_kb = int(Path(f"/proc/{self.pid}/status").read_text().partition("VmRSS:")[2].split()[0])
        return f"{share:.0f} % of a core, {kept_kb / 1024:.0f} MB"


async def _watch(url: str, tables: int, seconds: float) -> list[float]:
    """Return the sorted delays of plays, as received by a viewer of the page for *seconds*."""
    late_ms: list[float] = []
    address = url.replace("http", "ws") + "/api/v1/live"
    async with connect(address, compression=None, proxy=None, max_size=None) as socket:
        seen = 0
        while seen < tables:  # plays before all tables are known do not count
            message = json.loads(await socket.recv())
            seen = len(message["tables"]) if message["whole"] else seen + len(message["tables"])
        end_s = time.monotonic() + seconds
        known: dict[str, str] = {}
        while time.monotonic() < end_s:
            message = json.loads(await socket.recv())
            now_ns = time.monotonic_ns()
            for table in message["tables"]:
                if table["last"] is not None and known.get(table["id"]) != table["last"]:
                    known[table["id"]] = table["last"]
                    late_ms.append((now_ns - int(table["last"])) / 1e6)
    return sorted(late_ms)


async def _play(port: int, tables: int, every_s: float) -> None:
    """Play at the tables until SIGTERM. Print a line when all are connected, and messages per second at the end."""
    rng = random.Random(1)
    games = [_Game(port, number, random.Random(number)) for number in range(tables)]
    lines = [asyncio.create_task(game.publishing.run()) for game in games]
    while any(game.publishing.found.grade is Grade.PROBLEM for game in games):
        await asyncio.sleep(0.1)
    print("ready", flush=True)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(15, ended.set)
    sent_before, began_s = sum(game.sent for game in games), time.monotonic()
    for game in games:
        loop.call_later(rng.uniform(0, every_s), game.play, rng, every_s)
    await ended.wait()
    print((sum(game.sent for game in games) - sent_before) / (time.monotonic() - began_s), flush=True)
    for line in lines:
        line.cancel()
    os._exit(0)  # skip the many disconnections


class _Game:
    """A table that publishes random plays."""

    def __init__(self, port: int, number: int, rng: random.Random) -> None:
        place = TableIdentity(f"table-{number}", f"Table {number}", "Spring")
        self.publishing = Publishing(
            MqttSettings(broker=Broker(host="127.0.0.1", port=port), place=place), rng, "bench", PageLink()
        )
        self.sent = 0
        self._teller, self._number = Teller(place, f"{number}"), number
        self._plays: tuple[PlayShown, ...] = ()
        self._seq, self._totals = 0, [0, 0]
        self._tell(self._teller.follow(lobby(), 0, _AT))
        self._tell(self._teller.health((ok("camera", "works"),), _AT))

    def play(self, rng: random.Random, every_s: float) -> None:
        """Play once, and schedule the next play."""
        seat, points = self._seq % 2, rng.choice((0, 0, 5, 10))
        self._totals[seat] += points
        if len(self._plays) == _PLAYS_OF_A_HAND:
            self._plays = ()
        self._seq += 1
        text = str(time.monotonic_ns())
        self._plays = (*self._plays, played(self._seq, seat, points, text=text))
        hand = 1 + (self._seq - 1) // _PLAYS_OF_A_HAND
        people = players(*self._totals, names=(f"Ann {self._number}", f"Ben {self._number}"), turn=1 - seat)
        now = shown(players=people, hand=hand, plays=self._plays)
        self._tell(self._teller.follow(now, 1, _AT))
        asyncio.get_running_loop().call_later(rng.uniform(0.5, 1.5) * every_s, self.play, rng, every_s)

    def _tell(self, messages: ToTell) -> None:
        self.sent += len(messages.states) + len(messages.events)
        self.publishing.tell(messages)


if __name__ == "__main__":
    main()
