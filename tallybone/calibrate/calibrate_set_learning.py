"""Learns a set of tiles beside everything else: it takes longer than whoever watches over the table would wait."""

from __future__ import annotations

import threading

from calibration.errors import RefusedError
from calibration.tile_set_learn import Learned, Shown, learn, look_at_set
from tallybone.calibrate.look import Image
from vision.errors import VisionError
from vision.reader import load_reader

Pips = tuple[int, int]


class _GivenUp(Exception):  # noqa: N818  # nothing is wrong
    """Nobody waits for it any more."""


class SetLearning:
    """What is learned of one picture; it may be asked for again with tiles that were put right."""

    def __init__(self, image: Image) -> None:
        """Take a picture of the set, shape (H, W, 3), BGR."""
        self._image = image
        self._shown: Shown | None = None
        self._learned: Learned | None = None
        self._error: Exception | None = None
        self._given_up = threading.Event()
        self._thread: threading.Thread | None = None
        self.share = 0.0

    def begin(self, said: dict[int, Pips]) -> None:
        """Learn anew, with the pips of some tiles as somebody says, by their index."""
        self.close()
        self._given_up.clear()
        self._learned = self._error = None
        self._thread = threading.Thread(target=self._run, args=(dict(said),), name="tile set")
        self._thread.start()

    def learned(self) -> Learned | None:
        """Return what was learned; None while that goes on.

        Raises:
            RefusedError: If the picture shows too few tiles.
            VisionError: If tiles cannot be read.
        """
        if self._thread is None or self._thread.is_alive():
            return None
        if self._error is not None:
            raise self._error
        return self._learned

    def close(self) -> None:
        """Give up what goes on; that takes some seconds at most."""
        self._given_up.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, said: dict[int, Pips]) -> None:
        try:
            if self._shown is None:
                self._shown = look_at_set([self._image], load_reader(), told=self._told)
            self._learned = learn(self._shown, said, told=self._told)
        except (RefusedError, VisionError) as error:
            self._error = error
        except _GivenUp:
            pass

    def _told(self, share: float) -> None:
        self.share = share
        if self._given_up.is_set():
            raise _GivenUp
