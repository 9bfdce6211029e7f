"""Name the command that installs an optional part of Tallybone."""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_IN_ALL = frozenset({"many", "mqtt", "pi", "web"})


class InstalledFrom(NamedTuple):
    """The origin of this installation. *path* is the package name, or the path of a wheel or folder."""

    path: str
    is_editable: bool = False


def install_command(extra: str) -> str:
    """Return the shell command that adds extras of pyproject.toml to this installation, such as "web,mqtt".

    pipx and uv are recognized by the files that they write into a venv. Both replace the whole installation, so the
    command for them also names the extra `all`.
    """
    return command_for(extra, Path(sys.prefix), installed_from())


def command_for(extra: str, prefix: Path, source: InstalledFrom) -> str:
    """Return the command for the installation in *prefix*.

    >>> command_for("web", Path("/nowhere"), InstalledFrom("tallybone"))
    "/nowhere/bin/pip install 'tallybone[web]'"
    """
    extras = "all" if _IN_ALL.issuperset(extra.split(",")) else f"all,{extra}"
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx install --force '{source.path}[{extras}]'"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --force '{source.path}[{extras}]'"
    is_active = sys.prefix == sys.base_prefix or os.environ.get("VIRTUAL_ENV") == str(prefix)
    pip = "pip" if is_active else f"{prefix}/bin/pip"
    sudo = "sudo " if prefix.exists() and not os.access(prefix, os.W_OK) else ""
    return f"{sudo}{pip} install {'-e ' if source.is_editable else ''}'{source.path}[{extra}]'"


def installed_from() -> InstalledFrom:
    """Return the origin that pip recorded (PEP 610): a wheel or folder that still exists, else the package name."""
    try:
        record = json.loads(distribution("tallybone").read_text("direct_url.json") or "{}")
    except PackageNotFoundError:
        record = {}
    path = unquote(urlsplit(record.get("url", "")).path)
    if not Path(path).is_absolute() or not Path(path).exists():
        return InstalledFrom("tallybone")
    return InstalledFrom(path, is_editable=bool(record.get("dir_info", {}).get("editable")))
