"""Read table.toml: camera, parts, names of the page, where scores go; secrets are in files of their own."""

from __future__ import annotations

import re
import ssl
import stat
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from hardware.config.config import HardwareConfig
from hardware.config.errors import ConfigError
from hardware.config.fields import Fields
from hardware.config.read import read_hardware
from tallybone.plain_text import MOST_NAME, plain

T = TypeVar("T")
USUAL_PATH = Path("/etc/tallybone/table.toml")
"""The path of the file, unless the user names another."""
USUAL_CAMERA = "usb:0"
"""The camera of a table, unless the file names another."""
USUAL_PREFIX = "tallybone"
USUAL_TABLE = "table"
_DISCOVERY_PREFIX = "homeassistant"
_TABLE = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_LEVELS = re.compile(r"[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*")
_HOST_NAME = re.compile(r"[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63}){0,9}")
_MOST_PREFIX, _MOST_URL = 100, 1000
_PORTS = {"mqtt": 1883, "mqtts": 8883}
_EXPECTED = "expected mqtt://HOST[:PORT], or mqtts:// for one that encrypts"
_TLS_KEYS = ("ca_file", "cert_file", "key_file")
_MOST_BYTES = 4096


class TableFileError(ConfigError):
    """A file cannot be used; each problem names it."""


@dataclass(frozen=True, slots=True)
class PageSettings:
    """The settings in [page]: further *names* by which the page may be asked for, in small letters."""

    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BeyondSettings:
    """Where scores go; nowhere unless the owner asks for it."""

    mqtt: MqttSettings | None = None
    webhooks: tuple[Webhook, ...] = ()


@dataclass(frozen=True, slots=True)
class TableFile:
    """The content of the file.

    Attributes:
        camera: The camera, as `tallybone play --camera` takes it; None where the file names none.
        hardware: The parts.
        page: The page.
        beyond: The broker and the addresses that get the scores.
        path: The file; None where there is none.
    """

    camera: str | None = None
    hardware: HardwareConfig = field(default_factory=HardwareConfig)
    page: PageSettings = field(default_factory=PageSettings)
    beyond: BeyondSettings = field(default_factory=BeyondSettings)
    path: Path | None = None


def load_table(path: Path | None = None, *, usual: Path = USUAL_PATH) -> TableFile:
    """Read a file; without a *path*, the *usual* one where there is one, and otherwise nothing.

    Raises:
        TableFileError: With everything that is wrong.
        OSError: If *path* cannot be read.
    """
    if path is None:
        if not usual.exists():
            return TableFile()
        path = usual
    try:
        said = parse_toml(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise TableFileError((f"{path}: this is not valid TOML ({error})",)) from None
    return _read(said, path)


def parse_toml(text: str) -> dict[str, object]:
    """Return the content of a TOML file whose values fit into messages.

    Raises:
        ValueError: If it is not valid TOML, is nested too deeply, or holds a number with thousands of digits.
    """
    try:
        said: dict[str, object] = tomllib.loads(text)
        repr(said)  # fails for what no message could show
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        raise ValueError("a number has thousands of digits: shorten it") from None
    except RecursionError:
        raise ValueError("lists or tables are nested too deeply: remove the inner ones") from None
    return said


def _read(said: dict[str, object], path: Path) -> TableFile:
    problems: list[str] = []
    fields = Fields(said, "", problems)
    camera = fields.table("camera", "camera")
    url = None if camera is None else camera.text("url")
    if camera is not None:
        camera.done()
    parts = fields.table("hardware", "hardware")
    hardware = HardwareConfig()
    if parts is not None:
        try:
            hardware = read_hardware(parts.whole_table)
        except ConfigError as error:
            problems += error.problems
    page = fields.table("page", "page")
    names = () if page is None else read_host_names(page, "names")
    if page is not None:
        page.done()
    beyond = read_beyond(fields)
    fields.done()
    if problems:
        raise TableFileError(tuple(f"{path}: {problem.removeprefix('[] ')}" for problem in problems))
    return TableFile(url, hardware, PageSettings(names), beyond, path)


def read_host_names(fields: Fields, key: str) -> tuple[str, ...]:
    """Return the names of machines that a key lists, in small letters."""
    said = fields.value(key)
    if said is None:
        return ()
    if isinstance(said, list) and all(isinstance(one, str) for one in said):
        names = tuple(one.lower().removesuffix(".") for one in said)
        if all(map(_HOST_NAME.fullmatch, names)):
            return names
    fields.problem(key, f'expected names of machines, as ["score.club.example"], but got {plain(str(said), 60)}')
    return ()


@dataclass(frozen=True, slots=True)
class TableIdentity:
    """The names of a table: *table* is its id in topics, *name* is for people, *tournament* is that of the event."""

    table: str = USUAL_TABLE
    name: str = USUAL_TABLE
    tournament: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MqttSettings:
    """The settings in [mqtt].

    Attributes:
        broker: The broker, and the user there.
        place: Which table this is.
        prefix: The beginning of all topics.
        discovery: The beginning of Home Assistant's topics; None where it is not to find the table by itself.
    """

    broker: Broker
    place: TableIdentity
    prefix: str = USUAL_PREFIX
    discovery: str | None = None


class EventKind(StrEnum):
    """An event at a table that others can be told of."""

    MATCH_BEGAN = "match_began"
    MATCH_OVER = "match_over"
    MATCH_LEFT = "match_left"
    HAND_BEGAN = "hand_began"
    PLAY = "play"
    PLAY_CHANGED = "play_changed"
    PLAY_REMOVED = "play_removed"
    POINTS = "points"
    QUESTION = "question"
    ANSWERED = "answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """The settings of one of [[webhooks]].

    Attributes:
        url: The address that events are sent to.
        events: Which.
        secret: The key of their signature; None for no signature.
        ca_file: The authorities that vouch for the address; None for those that the system trusts.
        table: Which table this is, where it is not the one of [mqtt].
    """

    url: str
    events: tuple[EventKind, ...] = tuple(EventKind)
    secret: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    table: str | None = None


def read_beyond(fields: Fields) -> BeyondSettings:
    """Read where scores go; problems are noted at *fields*, which read the whole file."""
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
    place = TableIdentity(table or USUAL_TABLE, name, None if tournament is None else plain(tournament, MOST_NAME))
    return MqttSettings(broker=broker, place=place, prefix=prefix, discovery=found_at if is_found else None)


def _webhook(fields: Fields) -> Webhook | None:
    url = fields.text("url")
    if url is None and not fields.has("url"):
        fields.problem("url", "has to be said")
    if url is not None and not _is_web_address(url):
        fields.problem("url", f"expected an address as http://HOST/PATH or https://HOST/PATH, but got {_short(url)}")
    events, secret, ca_file = _events(fields), _file(fields, "secret_file", secret_in), fields.text("ca_file")
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


def read_prefix(fields: Fields, key: str, usual: str) -> str:
    """Return the beginning of topics: levels of plain letters, so that no pattern of the broker is among them."""
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
    """Return whether an address is one of the web without a password, and of characters that requests are made of."""
    try:
        parts = urlsplit(url)
        is_plain = parts.username is None and not parts.fragment and parts.port != 0
    except ValueError:
        return False
    is_printable = len(url) <= _MOST_URL and all(" " < one < "\x7f" for one in url)
    return is_plain and is_printable and parts.scheme in ("http", "https") and bool(parts.hostname)


def _short(text: str) -> str:
    """Return a text as it may be shown; the part before an @ may be a password."""
    shown = plain(text.rpartition("@")[2], 60)
    return f'"{shown}"' if "@" not in text else f'"...@{shown}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker, and the user there.

    Attributes:
        host: Its name or address.
        port: Its port.
        is_tls: Whether the connection is encrypted, and the broker proves its identity.
        user: The name of the user; None for none.
        password: Of this user.
        ca_file: The authorities that vouch for the broker; None for those that the system trusts.
        cert_file: The certificate of this table; None for none.
        key_file: Its key; None where it is in *cert_file*.
    """

    host: str
    port: int
    is_tls: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None

    @property
    def words(self) -> str:
        """Where it is."""
        return f"{'mqtts' if self.is_tls else 'mqtt'}://{self.host}:{self.port}"

    def tls(self) -> ssl.SSLContext | None:
        """Return the context of an encrypted connection; None for an open one.

        Raises:
            OSError: If a file is none of those that are needed (`ssl.SSLError` is one).
        """
        if not self.is_tls:
            return None
        context = ssl.create_default_context(cafile=self.ca_file)
        if self.cert_file is not None:
            # Without a terminal nobody could type the password of a key: an empty one fails at once.
            context.load_cert_chain(self.cert_file, self.key_file, password="")
        return context


def read_broker(fields: Fields) -> Broker | None:
    """Return the broker in a table of a file; None, with a noted problem, where it cannot be used."""
    where = _address(fields)
    user, password = fields.text("user"), _file(fields, "password_file", secret_in)
    if password is not None and user is None:
        fields.problem("password_file", "a password needs a user")
    files = {key: _file(fields, key, keep_from_others if key == "key_file" else _existing) for key in _TLS_KEYS}
    if where is None:
        return None
    is_tls, host, port = where
    for key in _TLS_KEYS:
        if fields.has(key) and not is_tls:
            fields.problem(key, "has no meaning with mqtt://; mqtts:// encrypts")
    if files["key_file"] is not None and files["cert_file"] is None:
        fields.problem("key_file", "a key needs a cert_file")
    broker = Broker(host=host, port=port, is_tls=is_tls, user=user, password=password, **files)
    _try_tls(fields, broker)
    return broker


def _address(fields: Fields) -> tuple[bool, str, int] | None:
    """Return whether it encrypts, its name and its port."""
    url = fields.text("broker")
    if url is None:
        if not fields.has("broker"):
            fields.problem("broker", f"has to be said: {_EXPECTED}")
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        fields.problem("broker", _EXPECTED)
        return None
    if parts.username is not None or parts.password is not None:
        fields.problem("broker", "a password in an address is seen by many: say user and password_file")
        return None
    if parts.scheme not in _PORTS or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        fields.problem("broker", f"{_EXPECTED}, got {url}")
        return None
    return parts.scheme == "mqtts", parts.hostname, port or _PORTS[parts.scheme]


def _file(fields: Fields, key: str, take: Callable[[Path], T]) -> T | None:
    """Return what *take* makes of the file that a key names; None for no file, or for one that is of no use."""
    said = fields.text(key)
    try:
        return None if said is None else take(Path(said))
    except SecretFileError as error:
        fields.problem(key, str(error))
        return None


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise SecretFileError(f"{path}: there is no such file")
    return path


def _try_tls(fields: Fields, broker: Broker) -> None:
    """Note where the files are no certificates: better now than in the middle of a game."""
    try:
        broker.tls()
    except OSError as error:
        key = "ca_file" if broker.cert_file is None else "cert_file"
        fields.problem(key, f"this is not what TLS needs ({error.strerror or error})")


class SecretFileError(ValueError):
    """A secret cannot be used; the message gives the reason, and never the secret."""


def secret_in(path: Path) -> str:
    """Return the one line of a file, without its end.

    Raises:
        SecretFileError: If it is not there, if others can read it, or if it holds no secret.
    """
    keep_from_others(path)
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1).decode("utf-8")
    except OSError as error:
        raise SecretFileError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SecretFileError(f"{path}: expected a text") from None
    secret = text.rstrip("\r\n")
    if not secret or "\n" in secret or len(text) > _MOST_BYTES:
        raise SecretFileError(f"{path}: expected one line with the secret, at most {_MOST_BYTES} bytes")
    return secret


def keep_from_others(path: Path) -> Path:
    """Return a file, refusing one that everybody on the machine can read or write; its group may, as for a service.

    Raises:
        SecretFileError: If it is such, is no file, or is not there.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise SecretFileError(f"{path}: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise SecretFileError(f"{path}: this is no file")
    if mode & (stat.S_IRWXO):
        raise SecretFileError(f"{path}: others can read it; chmod 600 {path}")
    return path
