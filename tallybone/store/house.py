"""Store the settings of a table between matches, its last match, and the hash of the owner's password."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hardware.part import ConfigError
from tallybone.choices import TileSet
from tallybone.files import sentence_of, write_durably
from tallybone.json_values import JsonValueError, from_json, to_json
from tallybone.store.table_file import USUAL_PATH, TableFile, load_table
from tallybone.texts import LANGUAGES

HOUSE_NAME = "house.json"
"""Name of the file in the state folder."""
_MAX_BYTES = 100_000
MIN_KEEP_BYTES = 10**9
MAX_KEEP_BYTES = 10**15
OWNER_NAME = "owner.json"
"""Name of the file in the state folder."""
MIN_CHARACTERS = 8
MAX_CHARACTERS = 200
_MAX_PASSWORD_BYTES = 4096
# Parameters of scrypt. A check takes 16 MB and some tens of milliseconds. More would delay the images of a game on a
# Pi. The number of attempts is limited too.
_N = 2**14
_R = 8
_P = 1
_MAX_N = 2**17


@dataclass(frozen=True, slots=True)
class MatchSetting:
    """Settings of a match."""

    game: str
    options: tuple[tuple[str, str], ...] = ()
    players: tuple[str, ...] = ()
    tile_set: TileSet = TileSet.AUTO


@dataclass(frozen=True, slots=True)
class HouseSettings:
    """Settings of a table.

    Attributes:
        keep_bytes: Maximum total size of all recordings. None if not set.
        language: Default language of the page, such as "es". None for the language of the browser.
        usual: Settings of the match that is offered first. None to offer *last*.
        last: Settings of the last match that was started. None if there was none.
    """

    keep_bytes: int | None = None
    language: str | None = None
    usual: MatchSetting | None = None
    last: MatchSetting | None = None

    def __post_init__(self) -> None:
        if self.keep_bytes is not None and not MIN_KEEP_BYTES <= self.keep_bytes <= MAX_KEEP_BYTES:
            raise ValueError(f"keep_bytes must be {MIN_KEEP_BYTES} to {MAX_KEEP_BYTES}, but got {self.keep_bytes}")
        if self.language is not None and self.language not in LANGUAGES:
            raise ValueError(f"language must be one of {', '.join(LANGUAGES)}, but got {self.language!r}")


def load_house(path: Path) -> tuple[HouseSettings, str | None]:
    """Load the settings. Return them and None, or for an unusable file default settings and the reason.

    A missing file gives default settings without a reason.
    """
    try:
        with path.open("rb") as file:
            data = json.loads(file.read(_MAX_BYTES))
        return from_json(data, HouseSettings), None
    except FileNotFoundError:
        return HouseSettings(), None
    except (OSError, ValueError, JsonValueError, RecursionError) as error:
        return HouseSettings(), f"{path}: the settings of the table cannot be read; defaults are used: {error}"


def save_house(house: HouseSettings, path: Path) -> None:
    """Write the settings atomically.

    Raises:
        OSError: If the file cannot be written.
    """
    write_durably(path, json.dumps(to_json(house, HouseSettings), ensure_ascii=False, indent=1))


class HouseFile:
    """Settings of a table and their file. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._house, self.problem = load_house(path)

    @property
    def house(self) -> HouseSettings:
        """Current settings."""
        return self._house

    def change(self, to: Callable[[HouseSettings], HouseSettings]) -> HouseSettings:
        """Apply *to* to the settings, write the file, and return the new settings.

        Raises:
            OSError: If the file cannot be written. The settings are unchanged then.
        """
        with self._lock:
            house = to(self._house)
            save_house(house, self._path)
            self._house, self.problem = house, None
            return house


class PasswordError(ValueError):
    """A password cannot be used. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class PasswordHash:
    """A password hash: scrypt parameters, and salt and hash in hexadecimal."""

    salt: str
    hash: str
    n: int = _N
    r: int = _R
    p: int = _P

    def fits(self, password: str) -> bool:
        """Return True if *password* matches."""
        return hmac.compare_digest(_scrypt(password, bytes.fromhex(self.salt), self.n, self.r, self.p).hex(), self.hash)


def set_password(password: str, path: Path) -> None:
    """Store the hash of a password in a file.

    Raises:
        PasswordError: If the password is too short or too long.
        OSError: If the file cannot be written.
    """
    if not MIN_CHARACTERS <= len(password) <= MAX_CHARACTERS:
        raise PasswordError(f"a password has {MIN_CHARACTERS} to {MAX_CHARACTERS} characters, not {len(password)}")
    salt = secrets.token_bytes(16)
    kept = PasswordHash(salt.hex(), _scrypt(password, salt, _N, _R, _P).hex())
    write_durably(path, json.dumps(to_json(kept, PasswordHash)), mode=0o600)


def has_password(path: Path) -> bool:
    """Return True if a valid password hash is stored."""
    return _kept(path) is not None


def is_password(password: str, path: Path) -> bool:
    """Return True if *password* matches the stored hash. False without a valid hash. Hashing is deliberately slow."""
    kept = _kept(path)
    return kept is not None and len(password) <= MAX_CHARACTERS and kept.fits(password)


def _kept(path: Path) -> PasswordHash | None:
    try:
        with path.open("rb") as file:
            kept: PasswordHash = from_json(json.loads(file.read(_MAX_PASSWORD_BYTES)), PasswordHash)
        bytes.fromhex(kept.salt)
    except (OSError, ValueError, JsonValueError, RecursionError):
        return None
    is_sane = 2 <= kept.n <= _MAX_N and kept.n & (kept.n - 1) == 0 and 1 <= kept.r <= _R and 1 <= kept.p <= 4
    return kept if is_sane else None


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    # Hash first, because scrypt treats "secret" and "secret\0" as equal.
    data = hashlib.sha256(password.encode("utf-8", "surrogatepass")).digest()
    return hashlib.scrypt(data, salt=salt, n=n, r=r, p=p, maxmem=256 * n * r, dklen=32)


LAST_TABLE = "last_table.toml"
"""Name of the copy of the last valid table.toml in the state folder."""


def load_valid_table(path: Path | None, last: Path, *, usual: Path = USUAL_PATH) -> tuple[TableFile, tuple[str, ...]]:
    """Load table.toml as `load_table`, or the last valid version if it cannot be used.

    Args:
        path: The file. None for *usual*.
        last: Copy of the last valid version, which this function keeps.
        usual: Default path.

    Returns:
        The content, or the defaults if no version was valid, and the problems of the file.

    Raises:
        FileNotFoundError: If *path* does not exist.
    """
    try:
        table = load_table(path, usual=usual)
    except FileNotFoundError:
        raise
    except (ConfigError, OSError) as error:
        problems = error.problems if isinstance(error, ConfigError) else (sentence_of(error),)
        with suppress(ConfigError, OSError):
            return load_table(usual=last), problems
        return TableFile(), problems
    with suppress(OSError):  # A disk that is full or read-only does not keep the table from its game.
        _keep(table, last)
    return table, ()


def _keep(table: TableFile, last: Path) -> None:
    if table.path is None:
        last.unlink(missing_ok=True)
    elif not last.exists() or last.read_bytes() != table.path.read_bytes():
        write_durably(last, table.path.read_text(encoding="utf-8"), mode=0o600)
