"""Run `tallybone hub`: serve the page of all tables until it is stopped."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Event
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from hardware.libraries import install_command
from tallybone.cli.app import command, commands_of

if TYPE_CHECKING:
    from tallybone.store.table_file import Broker
    from tallybone.terminal import Output, StopRequest

_RESULTS_NAME = "hub_results.jsonl"
_LOOKS_S = 0.2

commands = commands_of()


@dataclass(frozen=True, slots=True, kw_only=True)
class HubOptions:
    """Options of `tallybone hub`."""

    broker: Annotated[str, typer.Option(metavar="URL", help="mqtt://HOST[:PORT], or mqtts:// for TLS.")]
    at: Annotated[
        str, typer.Option(metavar="[ADDRESS:]PORT", help="Address of the page. Default: port 8080 on all interfaces.")
    ] = ""
    names: Annotated[
        list[str] | None,
        typer.Option("--name", metavar="NAME", help="Additional host name of the page; repeatable."),
    ] = None
    user: Annotated[str, typer.Option(help="User name at the broker.")] = ""
    password_file: Annotated[
        str,
        typer.Option(metavar="FILE", help="File with the password of this user; must be readable only by its owner."),
    ] = ""
    ca: Annotated[
        str, typer.Option(metavar="FILE", help="CA certificate of the broker. Default: the system's CAs.")
    ] = ""
    cert: Annotated[str, typer.Option(metavar="FILE", help="Client certificate.")] = ""
    key: Annotated[str, typer.Option(metavar="FILE", help="Key of the client certificate.")] = ""
    prefix: Annotated[str, typer.Option(help="Prefix of the topics of all tables. Default: tallybone.")] = ""
    results: Annotated[str, typer.Option(metavar="FILE|none", help="File for results; auto: in the state folder.")] = (
        "auto"
    )


@command(commands, "hub", HubOptions)
def _hub(options: HubOptions) -> int:
    return run_hub(options, os.environ, Path.home())


def run_hub(
    options: HubOptions,
    environment: Mapping[str, str],
    home: Path,
    *,
    out: TextIO | None = None,
    err: TextIO | None = None,
    stop: Callable[[], AbstractContextManager[StopRequest]] | None = None,
) -> int:
    """Serve the page of all tables until the program is stopped.

    Returns:
        The exit code: 0, 1 if a library or resource is missing, 2 if an option is invalid.
    """
    from hardware.part import ConfigError
    from tallybone.recording.folder import default_folder
    from tallybone.terminal import Output, stop_requested

    output = Output.lasting("hub", out, err)
    try:
        sources = _sources(options)
        usual = default_folder(environment, home).parent / _RESULTS_NAME
        path = {"auto": usual, "none": None}.get(options.results, Path(options.results))
        with (stop or stop_requested)() as asked:
            _serve(sources, options.at, path, output, asked)
    except ConfigError as error:
        output.complain(*error.problems)
        return 2
    except ModuleNotFoundError as error:
        return output.complain(f"a hub needs {error.name}, which is not installed: {install_command('web,mqtt')}")
    except OSError as error:
        return output.complain(error)
    return 0


@dataclass(frozen=True, slots=True)
class _Sources:
    """Broker, topic prefix, and additional host names of the page."""

    broker: Broker
    prefix: str
    names: tuple[str, ...]


def _sources(options: HubOptions) -> _Sources:
    """Return the validated options of the command line, with defaults for those not given."""
    from hardware.part import validated
    from tallybone.store.table_file import HubSettings

    given = {
        "broker": options.broker,
        "user": options.user,
        "password_file": options.password_file,
        "ca_file": options.ca,
        "cert_file": options.cert,
        "key_file": options.key,
        "prefix": options.prefix,
        "name": options.names,
    }
    settings = validated(HubSettings, {name: value for name, value in given.items() if value})
    return _Sources(settings.connection, settings.prefix, settings.name)


def _serve(sources: _Sources, at: str, path: Path | None, output: Output, stop: StopRequest) -> None:
    from tallybone.clock import wall_time
    from tallybone.hub.hall import Hall, hub_app
    from tallybone.hub.standings import Results
    from tallybone.notify.broker import BrokerConnection
    from tallybone.web.access.serving import Address, Serving, listen_on
    from tallybone.web.access.visitors import KnownHosts

    results = Results(path)
    listening = listen_on(at)
    line = BrokerConnection(sources.broker, Random())
    hall = Hall(line, sources.prefix, results, wall_time)
    hosts = KnownHosts(sources.names, told_by="--name of tallybone hub")
    serving = Serving(hub_app(hall, hosts), listening, hall.run)
    try:
        output.write(f"hub {Address.of(listening).url}  broker {sources.broker.text}")
        waiting = Event()
        problem = None
        while not stop.is_requested:
            if line.problem != problem:
                problem = line.problem
                output.write(problem or "connected to the broker")
            waiting.wait(_LOOKS_S)
    finally:
        serving.close()
