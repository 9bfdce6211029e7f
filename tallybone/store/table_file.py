"""Load table.toml: camera, parts, host names of the page, MQTT and webhooks. Secrets are in separate files."""

from __future__ import annotations

import ssl
import stat
import tomllib
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from hardware.part import OFF, ConfigError, Lax, NonEmpty, SettingsTable, fault_at, validated
from hardware.table import HardwareSettings
from tallybone.plain_text import MAX_NAME, plain

USUAL_PATH = Path("/etc/tallybone/table.toml")
"""Default path of the file."""
USUAL_CAMERA = "usb:0"
"""Default camera."""
USUAL_TABLE = "table"
_MAX_URL = 1000
_PORTS = {"mqtt": 1883, "mqtts": 8883}
_BROKER_URL = "mqtt://HOST[:PORT], or mqtts:// with TLS"
_MAX_BYTES = 4096


class TableFileError(ConfigError):
    """The file cannot be used. Each problem contains the name of the file."""


class SecretFileError(ValueError):
    """A secret cannot be used. The message gives the reason but never the secret."""


def secret_in(path: Path) -> str:
    """Return the secret in a file: its only line, without the line end.

    Raises:
        SecretFileError: If the file does not exist, is accessible to everybody, or does not contain a single line.
    """
    keep_from_others(path)
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_BYTES + 1).decode("utf-8")
    except OSError as error:
        raise SecretFileError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SecretFileError(f"{path}: expected a text") from None
    secret = text.rstrip("\r\n")
    if not secret or "\n" in secret or len(text) > _MAX_BYTES:
        raise SecretFileError(f"{path}: expected one line with the secret, at most {_MAX_BYTES} bytes")
    return secret


def keep_from_others(path: Path) -> Path:
    """Check that a file is not accessible to everybody on the machine, and return it. Its group may have access.

    Raises:
        SecretFileError: If the file is accessible to everybody, is not a regular file, or does not exist.
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise SecretFileError(f"{path}: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise SecretFileError(f"{path}: this is not a file")
    if mode & (stat.S_IRWXO):
        raise SecretFileError(f"{path}: others can read it; chmod 600 {path}")
    return path


@dataclass(frozen=True, slots=True)
class TableIdentity:
    """Names of a table: its id in topics (*table*), its display name, and the name of the tournament."""

    table: str = USUAL_TABLE
    name: str = USUAL_TABLE
    tournament: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MqttSettings:
    """Settings of [mqtt].

    Attributes:
        broker: Broker and credentials.
        place: Names of this table.
        prefix: Prefix of all topics.
        discovery: Prefix of Home Assistant's discovery topics. None to disable discovery.
        has_buttons: Whether clients of the broker may press buttons of the table.
    """

    broker: Broker
    place: TableIdentity
    prefix: str = "tallybone"
    discovery: str | None = None
    has_buttons: bool = False


class EventKind(StrEnum):
    """Kind of event that is published."""

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
    """Settings of an entry in [[webhooks]].

    Attributes:
        url: URL to which events are sent.
        events: Kinds of events to send.
        secret: Key for the signature. None for no signature.
        ca_file: Certificate authorities to trust. None for those of the system.
        table: Id of this table, if it differs from the one in [mqtt].
    """

    url: str
    events: tuple[EventKind, ...] = tuple(EventKind)
    secret: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    table: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """An MQTT broker and credentials.

    Attributes:
        host: Host name or address.
        port: Port.
        is_tls: Whether to use TLS and verify the broker's certificate.
        user: User name, or None.
        password: Password of the user, or None.
        ca_file: Certificate authorities to trust. None for those of the system.
        cert_file: Client certificate, or None.
        key_file: Key of the client certificate. None if it is in *cert_file*.
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
    def text(self) -> str:
        """URL of the broker, for messages."""
        return f"{'mqtts' if self.is_tls else 'mqtt'}://{self.host}:{self.port}"

    def tls(self) -> ssl.SSLContext | None:
        """Return the TLS context, or None for an unencrypted connection.

        Raises:
            OSError: If a certificate or key file is invalid (`ssl.SSLError` is an OSError).
        """
        if not self.is_tls:
            return None
        context = ssl.create_default_context(cafile=self.ca_file)
        if self.cert_file is not None:
            # Without a terminal nobody can enter the password of an encrypted key. With an empty password, loading
            # fails at once.
            context.load_cert_chain(self.cert_file, self.key_file, password="")
        return context


def _existing(path: str) -> str:
    if not Path(path).is_file():
        raise SecretFileError(f"{path}: there is no such file")
    return path


def _secret(path: str) -> str:
    secret_in(Path(path))
    return path


def _path(path: str | None) -> Path | None:
    return None if path is None else Path(path)


def _private(path: str) -> str:
    return str(keep_from_others(Path(path)))


def _broker_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        raise ValueError(f"expected {_BROKER_URL}") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("a password in an address is not secret: use user and password_file")
    if parts.scheme not in _PORTS or not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError(f"expected {_BROKER_URL}, got {url}")
    return url


def _web_address(url: str) -> str:
    """Check that a URL is http or https, without a user name, and contains only printable ASCII."""
    try:
        parts = urlsplit(url)
        is_plain = parts.username is None and not parts.fragment and parts.port != 0
    except ValueError:
        is_plain = False
    is_printable = len(url) <= _MAX_URL and all(" " < one < "\x7f" for one in url)
    if not (is_plain and is_printable and parts.scheme in ("http", "https") and parts.hostname):
        # Hide the part before an @ in the message, because it may contain a password.
        shown = f"{'...@' if '@' in url else ''}{plain(url.rpartition('@')[2], 60)}"
        raise ValueError(f'expected an address as http://HOST/PATH or https://HOST/PATH, but got "{shown}"')
    return url


_ExistingFile = Annotated[NonEmpty, AfterValidator(_existing)]
_SecretFile = Annotated[NonEmpty, AfterValidator(_secret)]
_TableId = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$", title="1 to 40 of a-z, 0-9, - and _")]
_Topics = Annotated[
    str,
    Field(
        max_length=100,
        # Levels contain neither + nor #, which are wildcards of the broker.
        pattern=r"^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$",
        title="levels of letters, digits, . - and _, as club/tables",
        description="prefix of all topics",
    ),
]
_A_NAME = 'host names, such as ["score.club.example"]'
_HostNames = Annotated[
    tuple[
        Annotated[
            str,
            Field(pattern=r"^[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63}){0,9}\.?$", title=_A_NAME),
            AfterValidator(lambda name: name.lower().removesuffix(".")),
        ],
        ...,
    ],
    Lax,
    Field(title=_A_NAME, description="additional host names of the page"),
]


class CameraSettings(SettingsTable):
    """The table [camera]."""

    url: Annotated[NonEmpty, Field(description="camera, as in --camera of tallybone play")] = USUAL_CAMERA
    rotate: Annotated[Literal[0, 90, 180, 270], Field(description="degrees to turn the picture clockwise")] = 0
    flip: Annotated[bool, Field(description="mirror the picture, before it is turned")] = False
    mains: Annotated[
        Literal[50, 60, "off"] | None, Field(description="mains frequency in Hz, to avoid bands of light")
    ] = None

    @property
    def source(self) -> str:
        """Camera with its options, as in --camera."""
        options = {"rotate": self.rotate or None, "flip": "yes" if self.flip else None, "mains": self.mains}
        return ",".join((self.url, *(f"{key}={value}" for key, value in options.items() if value is not None)))


class PageSettings(SettingsTable):
    """The table [page]; its names are in small letters."""

    names: _HostNames = ()


class BrokerSettings(SettingsTable):
    """The keys of a broker, and of the user there."""

    broker: Annotated[
        NonEmpty,
        Field(description=_BROKER_URL, json_schema_extra={"pattern": "^mqtts?://[^/?#@]+/?$"}),
        AfterValidator(_broker_url),
    ]
    user: Annotated[NonEmpty | None, Field(description="user name")] = None
    password_file: Annotated[_SecretFile | None, Field(description="file with the user's password")] = None
    ca_file: Annotated[
        _ExistingFile | None, Field(description="CA certificate of the broker; default: the system's")
    ] = None
    cert_file: Annotated[_ExistingFile | None, Field(description="certificate of this table")] = None
    key_file: Annotated[
        Annotated[NonEmpty, AfterValidator(_private)] | None, Field(description="key of the certificate")
    ] = None

    @field_validator("password_file")
    @classmethod
    def _check_user(cls, path: str | None, info: ValidationInfo) -> str | None:
        if path is not None and info.data.get("user", path) is None:
            raise ValueError("a password needs a user")
        return path

    @field_validator("ca_file", "cert_file", "key_file")
    @classmethod
    def _check_tls(cls, path: str | None, info: ValidationInfo) -> str | None:
        if path is not None and info.data.get("broker", "").partition(":")[0] == "mqtt":
            raise ValueError("has no meaning with mqtt://; mqtts:// encrypts")
        if path is not None and info.field_name == "key_file" and info.data.get("cert_file", path) is None:
            raise ValueError("a key needs a cert_file")
        return path

    @model_validator(mode="after")
    def _try_tls(self) -> Self:
        """Reject invalid certificate files at once instead of in the middle of a game."""
        try:
            self.connection.tls()
        except OSError as error:
            key = "ca_file" if self.cert_file is None else "cert_file"
            raise fault_at(key, f"not usable for TLS ({error.strerror or error})") from None
        return self

    @property
    def connection(self) -> Broker:
        """Broker and credentials. Reads the password file."""
        parts = urlsplit(self.broker)
        return Broker(
            host=parts.hostname or "",
            port=parts.port or _PORTS[parts.scheme],
            is_tls=parts.scheme == "mqtts",
            user=self.user,
            password=None if self.password_file is None else secret_in(Path(self.password_file)),
            ca_file=_path(self.ca_file),
            cert_file=_path(self.cert_file),
            key_file=_path(self.key_file),
        )


class HubSettings(BrokerSettings):
    """Settings of a hub, from its command line."""

    prefix: _Topics = "tallybone"
    name: _HostNames = ()


class TopicSettings(BrokerSettings):
    """The table [mqtt]."""

    table: Annotated[_TableId, Field(description='name of this table in topics, such as "table-3"')]
    name: Annotated[NonEmpty | None, Field(description="display name; default: the name in topics")] = None
    tournament: Annotated[NonEmpty | None, Field(description="the name of the event")] = None
    prefix: _Topics = "tallybone"
    discovery: Annotated[bool, Field(description="announce the table to Home Assistant")] = False
    discovery_prefix: Annotated[_Topics, Field(description="prefix of its topics")] = "homeassistant"
    buttons: Annotated[bool, Field(description="let users of the broker press buttons of the table")] = False

    @model_validator(mode="after")
    def _check_buttons(self) -> Self:
        if self.buttons and self.user is None and self.cert_file is None:
            raise fault_at(
                "buttons", "needs user or cert_file, because otherwise anybody on the network could press them"
            )
        return self

    @property
    def topics(self) -> MqttSettings:
        """Settings for publishing. Reads the password file."""
        tournament = None if self.tournament is None else plain(self.tournament, MAX_NAME)
        return MqttSettings(
            broker=self.connection,
            place=TableIdentity(self.table, plain(self.name or self.table, MAX_NAME), tournament),
            prefix=self.prefix,
            discovery=self.discovery_prefix if self.discovery else None,
            has_buttons=self.buttons,
        )


class WebhookSettings(SettingsTable):
    """One of [[webhooks]]."""

    url: Annotated[
        NonEmpty,
        Field(description="address that receives events", json_schema_extra={"pattern": "^https?://[!-~]+$"}),
        AfterValidator(_web_address),
    ]
    events: Annotated[
        tuple[Annotated[EventKind, Lax], ...], Lax, Field(min_length=1, title="a list of events", description="which")
    ] = tuple(EventKind)
    secret_file: Annotated[_SecretFile | None, Field(description="file with the key of the signature")] = None
    ca_file: Annotated[
        _ExistingFile | None, Field(description="CA certificate of the address; default: the system's")
    ] = None
    table: Annotated[_TableId | None, Field(description="name of this table; default: as in [mqtt]")] = None

    @property
    def webhook(self) -> Webhook:
        """Webhook with its secret. Reads the secret file."""
        return Webhook(
            url=self.url,
            events=self.events,
            secret=None if self.secret_file is None else secret_in(Path(self.secret_file)),
            ca_file=_path(self.ca_file),
            table=self.table,
        )


class TableSettings(SettingsTable):
    """The file table.toml of Tallybone."""

    camera: CameraSettings = Field(default_factory=CameraSettings)
    hardware: HardwareSettings = Field(default_factory=HardwareSettings)
    page: PageSettings = Field(default_factory=PageSettings)
    mqtt: TopicSettings | None = None
    webhooks: Annotated[tuple[WebhookSettings, ...], Lax] = ()


@dataclass(frozen=True, slots=True)
class BeyondSettings:
    """Destinations of scores outside the table. By default, there are none."""

    mqtt: MqttSettings | None = None
    webhooks: tuple[Webhook, ...] = ()


@dataclass(frozen=True, slots=True)
class TableFile:
    """Content of table.toml.

    Attributes:
        camera: Camera, as for `tallybone play --camera`. None if the file does not set it.
        hardware: Parts of the table.
        page: Settings of the page.
        beyond: Broker and webhooks.
        path: Path of the file. None if there is no file.
    """

    camera: str | None = None
    hardware: HardwareSettings = field(default_factory=HardwareSettings)
    page: PageSettings = field(default_factory=PageSettings)
    beyond: BeyondSettings = field(default_factory=BeyondSettings)
    path: Path | None = None


def load_table(path: Path | None = None, *, usual: Path = USUAL_PATH) -> TableFile:
    """Load table.toml from *path*, or without it from *usual*. If *usual* does not exist, return the defaults.

    Raises:
        TableFileError: If the content is invalid. It lists every problem.
        OSError: If the file cannot be read.
    """
    if path is None:
        if not usual.exists():
            return TableFile()
        path = usual
    settings = load_settings(path)
    beyond = BeyondSettings(
        None if settings.mqtt is None else settings.mqtt.topics, tuple(entry.webhook for entry in settings.webhooks)
    )
    camera = settings.camera.source if settings.camera.model_fields_set else None
    return TableFile(camera, settings.hardware.without(OFF), settings.page, beyond, path)


def load_settings(path: Path) -> TableSettings:
    """Load the settings in a file.

    Raises:
        TableFileError: If the content is invalid. It lists every problem.
        OSError: If *path* cannot be read.
    """
    try:
        return validated(TableSettings, parse_toml(path.read_text(encoding="utf-8")))
    except ConfigError as error:
        raise TableFileError(tuple(f"{path}: {problem}" for problem in error.problems)) from None
    except ValueError as error:
        raise TableFileError((f"{path}: this is not valid TOML ({error})",)) from None


def parse_toml(text: str) -> dict[str, object]:
    """Parse TOML, and reject values that cannot be shown in messages.

    Raises:
        ValueError: If *text* is not valid TOML, is nested too deeply, or contains a number with thousands of digits.
    """
    try:
        data: dict[str, object] = tomllib.loads(text)
        repr(data)  # Raises for numbers that cannot be shown in a message.
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        raise ValueError("a number has thousands of digits: shorten it") from None
    except RecursionError:
        raise ValueError("lists or tables are nested too deeply: remove the inner ones") from None
    return data
