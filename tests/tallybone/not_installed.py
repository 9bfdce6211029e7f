"""Simulation of missing libraries."""

from __future__ import annotations

import builtins
from collections.abc import Mapping, Sequence
from types import ModuleType

import pytest


def without_fastapi(monkeypatch: pytest.MonkeyPatch, importer: str) -> None:
    """Let the import of the module *importer* fail as without FastAPI."""
    real = builtins.__import__

    def failing(
        name: str,
        names: Mapping[str, object] | None = None,
        local: Mapping[str, object] | None = None,
        fromlist: Sequence[str] = (),
        level: int = 0,
    ) -> ModuleType:
        if name == importer:
            raise ModuleNotFoundError("No module named 'fastapi'", name="fastapi")
        return real(name, names, local, fromlist, level)

    monkeypatch.setattr(builtins, "__import__", failing)
