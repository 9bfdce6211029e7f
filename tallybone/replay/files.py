"""The files that a replay is exported to, each by the end of its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tallybone.files import ExportError, require_free, whole_file
from tallybone.recording.format import SessionStart
from tallybone.replay.documents import everything, game_record, plays_table
from tallybone.replay.export import Story
from tallybone.replay.run import Seen
from tallybone.replay.video import Video
from tallybone.sources.source import Item

VIDEO = ".mp4"
TEXTS = (".dgr", ".csv", ".json")


@dataclass(frozen=True, slots=True)
class ExportWish:
    """What to write files of: *paths*, each by the end of its name; *is_forced* writes over what is there."""

    paths: tuple[Path, ...] = ()
    is_forced: bool = False


class Exports:
    """Takes in a replay and writes it down."""

    def __init__(self, wish: ExportWish, videos: Sequence[Video]) -> None:
        """Write *videos* as it goes, and the rest at the end."""
        self._wish, self._videos = wish, videos
        self._story = Story()

    def through(self, items: Iterator[Item]) -> Iterable[Item]:
        """Let items pass."""
        for video in self._videos:
            items = video.through(items)
        return items

    def add(self, seen: Seen) -> None:
        """Take in what one item has brought about."""
        self._story.add(seen)
        for video in self._videos:
            video.add(seen)

    def write_texts(self, start: SessionStart | None, result: Mapping[str, Any]) -> None:
        """Write those of the files that are text.

        Raises:
            ExportError: If there is no game to write down, or a file is there already.
            OSError: If one cannot be written.
        """
        for path in self._wish.paths:
            match path.suffix.lower():
                case ".dgr":
                    text = game_record(self._story, start)
                case ".csv":
                    text = plays_table(self._story)
                case ".json":
                    text = everything(self._story, start, result)
                case _:
                    continue
            with whole_file(path, is_forced=self._wish.is_forced) as part:
                part.write_text(text, encoding="utf-8")


@contextmanager
def exporting(wish: ExportWish, *, has_pictures: bool) -> Iterator[Exports]:
    """Give what takes in a replay; videos are there when all has gone well.

    Raises:
        ExportError: If a file is there already, or its name says nothing that can be written.
    """
    for path in wish.paths:
        if path.suffix.lower() not in (*TEXTS, VIDEO):
            raise ExportError(f"{path}: expected a name that ends in {', '.join(TEXTS)} or {VIDEO}")
        if path.suffix.lower() == VIDEO and not has_pictures:
            raise ExportError(f"{path}: a video needs pictures, so not with --log-only")
        require_free(path, is_forced=wish.is_forced)
    with ExitStack() as files:
        named = [path for path in wish.paths if path.suffix.lower() == VIDEO]
        videos = [Video(files.enter_context(whole_file(path, is_forced=wish.is_forced))) for path in named]
        yield Exports(wish, videos)
        for video in videos:
            video.close()
