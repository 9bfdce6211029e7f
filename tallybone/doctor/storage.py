"""Check the folder of recordings: free space, persistence and disk speed."""

from __future__ import annotations

from dataclasses import dataclass

from engine.phrases import listed, phrase
from tallybone.finding import Finding, ok, problem, warning

_GB = 1_000_000_000
# With less free space than the first limit, nothing can be recorded. The second is enough for an evening: four hours
# take about 5 GB at ten images per second.
_FULL_BYTES, _TIGHT_BYTES = _GB // 2, 5 * _GB
# Each event waits until it is on the disk. From the first delay on, people notice. From the second on, images are lost.
_SLOW_MS, _STUCK_MS = 100.0, 1000.0
_RECORDINGS, _DISK, _CARD = phrase("recordings"), phrase("disk"), phrase("card")
_FORGETS = ("tmpfs", "ramfs", "overlay")


@dataclass(frozen=True, slots=True)
class Disk:
    """The folder of recordings and its disk.

    Attributes:
        folder: Path of the folder.
        error: Reason why it is not writable, or "".
        free_bytes: Free space.
        kind: File system type.
        sync_ms: Durations of several fsync calls, in milliseconds.
        is_read_only: Whether the file system refuses to write, as ext4 does after errors of its disk.
    """

    folder: str
    error: str = ""
    free_bytes: int = 0
    kind: str = ""
    sync_ms: tuple[float, ...] = ()
    is_read_only: bool = False


def check_disk(disk: Disk) -> tuple[Finding, ...]:
    """Check that recordings can be stored: free space, file system and, if measured, write speed."""
    if disk.error:
        text = listed((disk.folder, disk.error), ": ")
        return (
            problem(
                _RECORDINGS,
                text,
                phrase("Change its owner, or choose another folder with `tallybone play --record DIR`."),
            ),
        )
    if disk.is_read_only:
        text = phrase("{folder} has become read-only: nothing can be recorded", folder=disk.folder)
        return (problem(_CARD, text, phrase("Restart the computer. If it happens again, replace the card.")),)
    return (_check_room(disk), *_check_speed(disk))


def _check_room(disk: Disk) -> Finding:
    free = phrase("{room} GB free in {folder}", room=f"{disk.free_bytes / _GB:.1f}", folder=disk.folder)
    if disk.kind in _FORGETS:
        return warning(
            _RECORDINGS,
            phrase("{free}, on a file system that is cleared on restart ({kind})", free=free, kind=disk.kind),
            phrase("Record to a disk or USB stick: `tallybone play --record DIR`."),
        )
    if disk.free_bytes < _FULL_BYTES:
        return problem(
            _RECORDINGS,
            free,
            phrase("Nothing can be recorded. Delete the oldest:"),
            "tallybone sessions --keep 5GB",
        )
    if disk.free_bytes < _TIGHT_BYTES:
        return warning(
            _RECORDINGS,
            phrase("{free}: not enough for an evening", free=free),
            phrase("Delete the oldest:"),
            "tallybone sessions --keep 5GB",
        )
    return ok(_RECORDINGS, free)


def _check_speed(disk: Disk) -> tuple[Finding, ...]:
    if not disk.sync_ms:
        return ()
    middle, longest = sorted(disk.sync_ms)[len(disk.sync_ms) // 2], max(disk.sync_ms)
    text = phrase(
        "writes reach the disk in {middle} ms (median), at most {longest} ms",
        middle=round(middle),
        longest=round(longest),
    )
    if longest >= _STUCK_MS:
        return (
            problem(_DISK, text, phrase("Far too slow: the card is worn out or counterfeit. Use a new card (A2).")),
        )
    if middle >= _SLOW_MS:
        return (warning(_DISK, text, phrase("A faster card (A2) or a USB stick makes the score appear sooner.")),)
    return (ok(_DISK, text),)
