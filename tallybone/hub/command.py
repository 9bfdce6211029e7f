"""`tallybone hub`: serves the page of all tables until it is told to end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from threading import Event
from typing import TextIO

from rich.console import Console

from hardware.config.errors import ConfigError
from hardware.config.fields import Fields
from tallybone.clock import wall_time
from tallybone.recording.folder import default_folder
from tallybone.store.table_file import USUAL_PREFIX, Broker, read_broker, read_prefix
from tallybone.terminal import Told, printable, told_to_end

_RESULTS_NAME = "hub_results.jsonl"
_LOOKS_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class HubWishes:
    """What a hub is asked for.

    Attributes:
        at: Where its page is: a port, or address and port; "" for the usual port of the whole network.
        broker: What is said of the broker, by the keys of [mqtt].
        results: Where results are kept; None for the user's own folder.
        is_kept: Whether they are kept at all.
    """

    at: str = ""
    broker: Mapping[str, str] = field(default_factory=dict)
    results: Path | None = None
    is_kept: bool = True


def run_hub(
    wishes: HubWishes,
    environment: Mapping[str, str],
    home: Path,
    *,
    out: TextIO | None = None,
    err: TextIO | None = None,
    told: Callable[[], AbstractContextManager[Told]] = told_to_end,
) -> int:
    """Serve the page of all tables until the program is told to end.

    Returns:
        The exit code: 0, 1 if something was not to be had, 2 if what was asked for makes no sense.
    """
    console = Console(file=out or sys.stdout, highlight=False)
    complaints = Console(file=err or sys.stderr, stderr=True)

    def complain(words: str) -> None:
        complaints.print(f"tallybone hub: {printable(words)}", markup=False, highlight=False, soft_wrap=True)

    try:
        broker, prefix = _asked(wishes)
        path = wishes.results or default_folder(environment, home).parent / _RESULTS_NAME
        with told() as asked_to_end:
            _serve(broker, prefix, wishes.at, path if wishes.is_kept else None, console, asked_to_end)
    except ConfigError as error:
        for problem in error.problems:
            complain(problem)
        return 2
    except ModuleNotFoundError as error:
        complain(f"a hub needs {error.name}, which is not installed: pip install 'tallybone[web,mqtt]'")
        return 1
    except OSError as error:
        complain(str(error))
        return 1
    return 0


def _asked(wishes: HubWishes) -> tuple[Broker, str]:
    problems: list[str] = []
    fields = Fields(wishes.broker, "hub", problems)
    broker, prefix = read_broker(fields), read_prefix(fields, "prefix", USUAL_PREFIX)
    fields.done()
    if broker is None or problems:
        raise ConfigError(tuple(problem.removeprefix("[hub] ") for problem in problems))
    return broker, prefix


def _serve(broker: Broker, prefix: str, at: str, path: Path | None, console: Console, told: Told) -> None:
    from tallybone.hub.hall import Hall, hub_app
    from tallybone.hub.standings import Results
    from tallybone.notify.broker import Line
    from tallybone.web.serving import Address, Serving, listen_on

    results = Results(path)
    listening = listen_on(at)
    line = Line(broker, Random())
    hall = Hall(line, prefix, results, wall_time)
    serving = Serving(hub_app(hall), listening, hall)
    try:
        console.print(f"hub {Address.of(listening).url}  broker {broker.words}", markup=False, soft_wrap=True)
        waiting = Event()
        problem = None
        while not told.is_told:
            if line.problem != problem:
                problem = line.problem
                console.print(problem or "the line to the broker is open", markup=False, soft_wrap=True)
            waiting.wait(_LOOKS_S)
    finally:
        serving.close()
