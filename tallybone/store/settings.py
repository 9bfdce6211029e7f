"""The tables [mqtt] and [[webhooks]] of table.toml: where scores go. Without them, nowhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from hardware.config.fields import Fields
from tallybone.plain_text import MOST_NAME, plain
from tallybone.store.broker_settings import Broker, read_broker
from tallybone.store.kinds import EventKind
from tallybone.store.secret_files import SecretFileError, secret_in

USUAL_PREFIX = "tallybone"
USUAL_TABLE = "table"
_DISCOVERY_PREFIX = "homeassistant"
_TABLE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_LEVELS = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")
_MOST_PREFIX, _MOST_URL = 100, 1000


@dataclass(frozen=True, slots=True)
class Place:
    """What a table is called: *table* is its id in topics, *name* is for people, *tournament* what it is part of."""

    table: str = USUAL_TABLE
    name: str = USUAL_TABLE
    tournament: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MqttSettings:
    """What [mqtt] says.

    Attributes:
        broker: Where it goes, and as whom.
        place: Which table this is.
        prefix: What all topics begin with.
        discovery: What topics of Home Assistant begin with; None where it is not to find the table by itself.
    """

    broker: Broker
    place: Place
    prefix: str = USUAL_PREFIX
    discovery: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """What one of [[webhooks]] says.

    Attributes:
        url: Where events are sent.
        events: Which.
        secret: What they are signed with; None for no signature.
        ca_file: Who vouches for the address; None for those whom the system trusts.
        table: Which table this is, where it is not the one of [mqtt].
    """

    url: str
    events: tuple[EventKind, ...] = tuple(EventKind)
    secret: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True)
class BeyondSettings:
    """Where scores go; nowhere unless somebody asks for it."""

    mqtt: MqttSettings | None = None
    webhooks: tuple[Webhook, ...] = ()


def read_beyond(fields: Fields) -> BeyondSettings:
    """Return what the file says; what is wrong is noted at *fields*, which read the whole file."""
    mqtt = fields.table("mqtt", "mqtt")
    hooks = fields.tables("webhooks", "webhooks")
    read = None if mqtt is None else _mqtt(mqtt)
    return BeyondSettings(read, tuple(one for one in map(_webhook, hooks) if one is not None))


def _mqtt(fields: Fields) -> MqttSettings | None:
    broker = read_broker(fields)
    table = _table_of(fields)
    if table is None and not fields.has("table"):
        fields.problem("table", 'has to be said: what this table is called in topics, as "table-3"')
    name = plain(fields.text("name") or table or USUAL_TABLE, MOST_NAME)
    tournament = fields.text("tournament")
    prefix = read_prefix(fields, "prefix", USUAL_PREFIX)
    is_found = _flag(fields, "discovery")
    found_at = read_prefix(fields, "discovery_prefix", _DISCOVERY_PREFIX)
    fields.done()
    if broker is None:
        return None
    place = Place(table or USUAL_TABLE, name, None if tournament is None else plain(tournament, MOST_NAME))
    return MqttSettings(broker=broker, place=place, prefix=prefix, discovery=found_at if is_found else None)


def _webhook(fields: Fields) -> Webhook | None:
    url = fields.text("url")
    if url is None and not fields.has("url"):
        fields.problem("url", "has to be said")
    if url is not None and not _is_web_address(url):
        fields.problem("url", f"expected an address as http://HOST/PATH or https://HOST/PATH, but got {_short(url)}")
    events, secret, ca_file = _events(fields), _secret(fields), fields.text("ca_file")
    if ca_file is not None and not Path(ca_file).is_file():
        fields.problem("ca_file", f"{ca_file}: there is no such file")
    table = _table_of(fields)
    fields.done()
    if url is None:
        return None
    return Webhook(url=url, events=events, secret=secret, ca_file=Path(ca_file) if ca_file else None, table=table)


def _table_of(fields: Fields) -> str | None:
    table = fields.text("table")
    if table is not None and not _TABLE.fullmatch(table):
        fields.problem("table", f"expected 1 to 40 of a-z, 0-9, - and _, but got {_short(table)}")
        return None
    return table


def _events(fields: Fields) -> tuple[EventKind, ...]:
    said = fields.value("events")
    if said is None:
        return tuple(EventKind)
    known = set(EventKind)
    if not isinstance(said, list) or not said or not all(isinstance(one, str) and one in known for one in said):
        fields.problem("events", f"expected a list of {', '.join(EventKind)}, but got {_short(str(said))}")
        return ()
    return tuple(EventKind(one) for one in said)


def _secret(fields: Fields) -> str | None:
    path = fields.text("secret_file")
    if path is None:
        return None
    try:
        return secret_in(Path(path))
    except SecretFileError as error:
        fields.problem("secret_file", str(error))
        return None


def read_prefix(fields: Fields, key: str, usual: str) -> str:
    """Return what topics begin with: levels of plain letters, so that no pattern of the broker is among them."""
    said = fields.text(key)
    if said is None:
        return usual
    if len(said) > _MOST_PREFIX or not _LEVELS.fullmatch(said):
        fields.problem(key, f"expected levels of letters, digits, . - and _, as club/tables, but got {_short(said)}")
        return usual
    return said


def _flag(fields: Fields, key: str) -> bool:
    said = fields.value(key)
    if said is None or isinstance(said, bool):
        return bool(said)
    fields.problem(key, f"expected true or false, but got {_short(str(said))}")
    return False


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return _is_plain(parts, url) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _is_plain(parts: SplitResult, url: str) -> bool:
    """Return whether an address is one of the web without a password, and of characters that requests are made of."""
    is_printable = url.isascii() and all(" " < one < "\x7f" for one in url)
    is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    return is_printable and is_web and not parts.fragment and len(url) <= _MOST_URL


def _short(text: str) -> str:
    """Return a text as it may be shown; what stands before an @ may be a password."""
    shown = plain(text.rpartition("@")[2], 60)
    return f'"{shown}"' if "@" not in text else f'"...@{shown}"'
