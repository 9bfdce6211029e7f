"""The owner's password of a table: kept as a hash that takes long to guess, in a file that only its user may read."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from tallybone.files import write_durably
from tallybone.json_values import JsonValueError, from_json, to_json

NAME = "owner.json"
"""What the file is called, in the folder of the program's state."""
LEAST_CHARACTERS, MOST_CHARACTERS = 8, 200
_MOST_BYTES = 4096
# 16 MB and some tens of milliseconds: more would cost a Pi a game's pictures, and guesses are limited besides.
_N, _R, _P = 2**14, 8, 1
_MOST_N = 2**17


class PasswordError(ValueError):
    """A password that cannot be one; the message says why."""


@dataclass(frozen=True, slots=True)
class _Hash:
    """What is kept of a password: how it was hashed, and to what, in hexadecimal."""

    salt: str
    hash: str
    n: int = _N
    r: int = _R
    p: int = _P

    def fits(self, password: str) -> bool:
        return hmac.compare_digest(_scrypt(password, bytes.fromhex(self.salt), self.n, self.r, self.p).hex(), self.hash)


def set_password(password: str, path: Path) -> None:
    """Keep the hash of a password in a file.

    Raises:
        PasswordError: If it is too short or too long.
        OSError: If the file cannot be written.
    """
    if not LEAST_CHARACTERS <= len(password) <= MOST_CHARACTERS:
        raise PasswordError(f"a password has {LEAST_CHARACTERS} to {MOST_CHARACTERS} characters, not {len(password)}")
    salt = secrets.token_bytes(16)
    kept = _Hash(salt.hex(), _scrypt(password, salt, _N, _R, _P).hex())
    write_durably(path, json.dumps(to_json(kept, _Hash)), mode=0o600)


def has_password(path: Path) -> bool:
    """Return whether there is a password that can be tried."""
    return _kept(path) is not None


def is_password(password: str, path: Path) -> bool:
    """Return whether this is the password; it takes a while, on purpose. Without one, or of a damaged one, none is."""
    kept = _kept(path)
    return kept is not None and len(password) <= MOST_CHARACTERS and kept.fits(password)


def _kept(path: Path) -> _Hash | None:
    try:
        with path.open("rb") as file:
            kept: _Hash = from_json(json.loads(file.read(_MOST_BYTES)), _Hash)
        bytes.fromhex(kept.salt)
    except (OSError, ValueError, JsonValueError, RecursionError):
        return None
    is_sane = 2 <= kept.n <= _MOST_N and kept.n & (kept.n - 1) == 0 and 1 <= kept.r <= _R and 1 <= kept.p <= 4
    return kept if is_sane else None


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    # scrypt itself takes "secret" and "secret\0" for the same.
    data = hashlib.sha256(password.encode("utf-8", "surrogatepass")).digest()
    return hashlib.scrypt(data, salt=salt, n=n, r=r, p=p, maxmem=256 * n * r, dklen=32)
