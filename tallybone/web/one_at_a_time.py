"""Work on files for a page: in a thread beside it, one piece after the other, so that a game keeps its pace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from fastapi import HTTPException

from engine import EngineError, OptionsError
from tallybone.plain_text import plain
from tallybone.web.shelf import NoRecordingError

T = TypeVar("T")
# Who comes later is told to come again.
_MOST_WAITING = 30


class OneAtATime:
    """Does what it is given, in the order in which it is given."""

    def __init__(self) -> None:
        """Have nothing to do."""
        self._lock, self._waiting = asyncio.Lock(), 0

    async def do(self, work: Callable[[], T]) -> T:
        """Return what *work* returns; what is wrong with a recording becomes an answer in plain words."""
        if self._waiting >= _MOST_WAITING:
            raise HTTPException(503, "too much is asked of the table at once", {"Retry-After": "2"})
        self._waiting += 1
        try:
            async with self._lock:
                return await asyncio.to_thread(work)
        except (NoRecordingError, FileNotFoundError):
            raise HTTPException(404, "there is no such recording") from None
        except OptionsError as error:
            raise HTTPException(422, plain("; ".join(error.faults))) from None
        except (EngineError, OSError) as error:
            raise HTTPException(422, plain(_without_folder(str(error)))) from None
        finally:
            self._waiting -= 1


def _without_folder(words: str) -> str:
    """Return an error without the place of its file, which is nobody's business on the network."""
    head, between, rest = words.partition(": ")
    return rest if between and "/" in head else words
