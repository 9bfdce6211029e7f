"""Secrets in files of their own: nothing secret stands in table.toml, in a command line or in an address."""

from __future__ import annotations

import stat
from pathlib import Path

_MOST_BYTES = 4096


class SecretFileError(ValueError):
    """A secret that cannot be used; its words say why, and never the secret."""


def secret_in(path: Path) -> str:
    """Return what stands in a file, without the end of its line.

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


def keep_from_others(path: Path) -> None:
    """Refuse a file that everybody on the machine can read or write; its group may, as that of a service.

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
