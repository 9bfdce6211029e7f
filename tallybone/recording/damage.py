"""What is wrong with a recording, as a value: it stands among the records, where they are missing."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Damage:
    """A part of a file that could not be used.

    Attributes:
        start_byte, end_byte: Where it is; equal where something is missing.
        problem: What is wrong there.
        after_ns, before_ns: When it was: time of the record before and of the one after, None where there is none.
        lost: How many records are missing between those two; None where there is none after it, so that nobody knows.
    """

    start_byte: int
    end_byte: int
    problem: str
    after_ns: int | None = None
    before_ns: int | None = None
    lost: int | None = None

    def __str__(self) -> str:
        """Say it as a sentence without an end."""
        where = f"byte {self.start_byte}"
        if self.end_byte > self.start_byte + 1:
            where = f"bytes {self.start_byte} to {self.end_byte - 1}"
        lost = "" if not self.lost else f"; {self.lost} record{'s' if self.lost > 1 else ''} lost"
        return f"{where}: {self.problem}{lost}{self._when()}"

    def _when(self) -> str:
        if not self.lost or self.after_ns is None or self.before_ns is None:
            return ""
        return f" between {self.after_ns / 1e9:.3f} s and {self.before_ns / 1e9:.3f} s"
