"""Measure the page and the game while other devices misuse their connections.

    python -m lab.bench.crowd [--silent 500] [--half 200] [--seconds 20] [--addresses 20] [--reopen 5]
    python -m lab.bench.crowd --silent 0 --half 0 --flood 60 --addresses 1 --reopen 1

A real `tallybone serve` follows a match at a simulated table. Another process opens the connections, from local
addresses other than 127.0.0.1, and reopens closed ones. A silent connection sends nothing, and a half one sends half a
request. A flooding one opens the page's WebSocket and sends 240 kB of empty frames per second. The page is fetched from
yet another address, over a new connection each time. Measured before and during the load: response time of the page,
pictures per second read by the game, age of the newest picture, and lines added to the log.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

import httpx

from lab.bench.material.harness import options_of

_EMPTY_FRAME = b"\x81\x80\0\0\0\0"
_BURST = _EMPTY_FRAME * 40_000
_UPGRADE = (
    b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
)
_HALF_HEAD = b"GET /api/v1/state HTTP/1.1\r\nHost: localhost\r\nX-Half: "
_VISITOR = "127.9.9.9"
_BETWEEN_FETCHES_S = 0.1
_FIRST_LOOKS_S = _PATIENCE_S = 60.0
_TABLE = Path(sys.executable).with_name("tallybone")
_PAUSE = threading.Event()


@dataclass(slots=True)
class Served:
    """A running server: its address, PIN and log."""

    url: str
    pin: str
    log: Path

    def number(self, name: str) -> float:
        """Return a Prometheus metric of the server, or 0 if it is missing."""
        match = re.search(rf"^{name} (\S+)$", self._metrics(), re.MULTILINE)
        return float(match[1]) if match else 0.0

    def _metrics(self) -> str:
        """Return all Prometheus metrics. Retry while the server closes connections."""
        until_s = time.monotonic() + _PATIENCE_S
        while True:
            try:
                return httpx.get(f"{self.url}/metrics", timeout=_PATIENCE_S).text
            except httpx.TransportError:
                if time.monotonic() > until_s:
                    raise


def main() -> None:
    args = options_of(
        __doc__,
        silent=500,
        half=200,
        flood=0,
        seconds=20.0,
        addresses=20,
        reopen=5.0,
        descriptors=4096,
        crowd=(str, None),
    )
    if args.crowd is not None:
        asyncio.run(_be_crowd(args.crowd, args))
        return
    with _served(args.descriptors) as table:
        # Start a match, and wait until the game reads pictures.
        with httpx.Client(base_url=f"{table.url}/api/v1", timeout=120) as client:
            client.post("/login", json={"pin": table.pin}).raise_for_status()
            client.post("/match", json={"game": "bones", "players": ["Ann", "Ben"]}).raise_for_status()
        until_s = time.monotonic() + _FIRST_LOOKS_S
        while table.number("tallybone_frames_seen_total") < 20 and time.monotonic() < until_s:
            _PAUSE.wait(0.2)
        print(
            f"{args.silent} silent, {args.half} half sent, {args.flood} flooding, {args.addresses} addresses",
            flush=True,
        )
        print("| | page, half | page, 99 % | worst | failed | pictures/s | oldest picture | log lines | load |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
        print(_measured("before", table, args.seconds), flush=True)
        crowd = subprocess.Popen([sys.executable, "-m", "lab.bench.crowd", *sys.argv[1:], "--crowd", table.url])
        try:
            _PAUSE.wait(0.0 if args.flood else 2.0)  # until most are connected; a flood is measured from its start
            print(_measured("with the crowd", table, args.seconds), flush=True)
        finally:
            crowd.terminate()
            crowd.wait()


@contextmanager
def _served(descriptors: int) -> Iterator[Served]:
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [str(_TABLE), "serve", "--camera", "simulated:seed=1", "--at", "127.0.0.1:0"]
        limited = ["sh", "-c", f'ulimit -n {descriptors} && exec "$@"', "sh", *command]
        with (
            log.open("w") as err,
            subprocess.Popen(
                limited, stdout=subprocess.PIPE, stderr=err, text=True, env=os.environ | {"XDG_STATE_HOME": folder}
            ) as process,
        ):
            assert process.stdout is not None
            text = process.stdout.readline().split()
            threading.Thread(target=process.stdout.read, daemon=True).start()
            try:
                yield Served(text[1], text[-1], log)
            finally:
                process.terminate()


def _measured(name: str, table: Served, seconds: float) -> str:
    """Measure for *seconds*, and return a row of the table."""
    lines, looks = _lines(table), table.number("tallybone_frames_seen_total")
    took_s, failed, oldest_s, began_s = list[float](), 0, 0.0, time.monotonic()
    while time.monotonic() < began_s + seconds:
        fetched_s = time.monotonic()
        try:
            transport = httpx.HTTPTransport(local_address=_VISITOR)
            with httpx.Client(transport=transport, timeout=20) as client:
                client.get(table.url).raise_for_status()
            took_s.append(time.monotonic() - fetched_s)
        except httpx.HTTPError:
            failed += 1
        oldest_s = max(oldest_s, table.number("tallybone_picture_age_seconds"))
        _PAUSE.wait(_BETWEEN_FETCHES_S)
    looks_per_s = (table.number("tallybone_frames_seen_total") - looks) / (time.monotonic() - began_s)
    took_s.sort()
    half_ms, max_ms, worst_ms = (
        1000 * took_s[min(len(took_s) - 1, len(took_s) * share // 100)] if took_s else float("nan")
        for share in (50, 99, 100)
    )
    return (
        f"| {name} | {half_ms:.0f} ms | {max_ms:.0f} ms | {worst_ms:.0f} ms | {failed} of {failed + len(took_s)} | "
        f"{looks_per_s:.1f} | {oldest_s:.2f} s | {_lines(table) - lines} | {os.getloadavg()[0]:.1f} |"
    )


def _lines(table: Served) -> int:
    return len(table.log.read_text(errors="replace").splitlines())


async def _be_crowd(url: str, args: argparse.Namespace) -> None:
    """Keep the connections open until the process is terminated."""
    where = urlsplit(url)

    async def hold(number: int) -> None:
        while True:
            with suppress(OSError, asyncio.IncompleteReadError):
                await _connect_once(where, number, args)
            await asyncio.sleep(args.reopen)

    await asyncio.gather(*(hold(number) for number in range(args.silent + args.half + args.flood)))


async def _connect_once(where: SplitResult, number: int, args: argparse.Namespace) -> None:
    """Open a connection and misuse it until the server closes it."""
    own = number % args.addresses
    reader, writer = await asyncio.open_connection(
        where.hostname, where.port, local_addr=(f"127.8.{own // 250}.{1 + own % 250}", 0)
    )
    try:
        if number >= args.silent + args.half:
            writer.write(_UPGRADE)
            await reader.readuntil(b"\r\n\r\n")
            flooding = asyncio.create_task(_flood(writer))
            try:
                await reader.read(-1)
            finally:
                flooding.cancel()
                await asyncio.gather(flooding, return_exceptions=True)
        else:
            if number >= args.silent:
                writer.write(_HALF_HEAD)
            await reader.read(-1)
    finally:
        writer.transport.abort()


async def _flood(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(_BURST)
        await writer.drain()
        await asyncio.sleep(1.0)


if __name__ == "__main__":
    main()
