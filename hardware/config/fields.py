"""Types of settings that several parts share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict

Lax = Strict(strict=False)
"""Marks what TOML can only write as a list or a string."""
NonEmpty = Annotated[str, Field(min_length=1)]
Percent = Annotated[int, Field(ge=0, le=100)]
SeatIndex = Annotated[int, Field(ge=0, le=15, description="whose side of the table, from 0")]
