"""Which broker is spoken to, and as whom: its address, the files with password and keys, what is wrong with them."""

from __future__ import annotations

import ssl
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from hardware.config.fields import Fields
from tallybone.store.secret_files import SecretFileError, keep_from_others, secret_in

_PORTS = {"mqtt": 1883, "mqtts": 8883}
_EXPECTED = "expected mqtt://HOST[:PORT], or mqtts:// for one that encrypts"
_TLS_KEYS = ("ca_file", "cert_file", "key_file")


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker, and who speaks to it.

    Attributes:
        host: Its name or address.
        port: Its port.
        is_tls: Whether what is said is encrypted, and the broker shows who it is.
        user: As whom; None for nobody in particular.
        password: Of this user.
        ca_file: Who vouches for the broker; None for those whom the system trusts.
        cert_file: What shows the broker who this is; None for nothing.
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
        """Return how it is spoken to in secret; None for openly.

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
    """Return what a table of a file says of its broker; what is wrong is noted, and then it is None."""
    where = _address(fields)
    user, password = fields.text("user"), _password(fields)
    if password is not None and user is None:
        fields.problem("password_file", "a password needs a user")
    files = {key: _file(fields, key) for key in _TLS_KEYS}
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
        fields.problem("broker", _EXPECTED)
        return None
    return parts.scheme == "mqtts", parts.hostname, port or _PORTS[parts.scheme]


def _password(fields: Fields) -> str | None:
    path = fields.text("password_file")
    if path is None:
        return None
    try:
        return secret_in(Path(path))
    except SecretFileError as error:
        fields.problem("password_file", str(error))
        return None


def _file(fields: Fields, key: str) -> Path | None:
    said = fields.text(key)
    if said is None:
        return None
    path = Path(said)
    try:
        if key == "key_file":
            keep_from_others(path)
        elif not path.is_file():
            raise SecretFileError(f"{path}: there is no such file")
    except SecretFileError as error:
        fields.problem(key, str(error))
        return None
    return path


def _try_tls(fields: Fields, broker: Broker) -> None:
    """Note where the files are no certificates: better now than in the middle of a game."""
    try:
        broker.tls()
    except OSError as error:
        key = "ca_file" if broker.cert_file is None else "cert_file"
        fields.problem(key, f"this is not what TLS needs ({error.strerror or error})")
