"""What a camera shows in a few seconds: how large, how often, how bright, how sharp."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np

from tallybone.finding import Finding, ok, problem, warning
from tallybone.sources.camera import Camera
from tallybone.sources.shots import Shot
from vision.pyramid import Image

_NS_PER_S = 1_000_000_000
_LOOKS_NS = 4 * _NS_PER_S
_TICK_S = 0.01
# Pictures at the begin are dark until the camera has found its exposure.
_SETTLES_NS = _NS_PER_S
_WIDE_PX, _HIGH_PX = 1280, 720
_SLOW_PER_S = 8.0
_LIVE = ("usb:", "pi:", "/dev/")
# Mean grey of pictures that are read well: 36 to 108 in photographs of tables, 95 in rendered ones.
_DARK, _BRIGHT, _FLAT = 25.0, 215.0, 4.0
_GLARE, _GLARE_SHARE = 250, 0.15
# Fine against coarse edges: 0.36 to 1.0 in photographs in focus, 0.24 and less when they are blurred by 1.0 px of 1280.
_BLURRED = 0.20


@dataclass(frozen=True, slots=True)
class Seen:
    """What a camera has shown.

    Attributes:
        error: Why it shows nothing; "" where it does.
        wide_px: Of its pictures.
        high_px: Of its pictures.
        per_s: How many a second.
        grey: Mean, 0 to 255.
        contrast: Standard deviation of the greys.
        sharpness: Fine edges against coarse ones.
        glare: Share of the picture that is white.
    """

    error: str = ""
    wide_px: int = 0
    high_px: int = 0
    per_s: float = 0.0
    grey: float = 0.0
    contrast: float = 0.0
    sharpness: float = 0.0
    glare: float = 0.0


def look_through(camera: Camera, wait: Callable[[float], None]) -> Seen:
    """Look at what a camera shows for four seconds, or to its end.

    Args:
        camera: Which one; it says the time as well.
        wait: Waits so many seconds.
    """
    began_ns = camera.now_ns()
    times_ns: list[int] = []
    last: Shot | None = None
    while camera.now_ns() - began_ns < _LOOKS_NS and not camera.is_over:
        shown = camera.take()
        if isinstance(shown, Shot):
            last = shown
            times_ns.append(shown.t_ns)
        elif shown is None:
            wait(_TICK_S)
    if last is None:
        return Seen(camera.problem or "it gives no picture")
    late_ns = [t_ns for t_ns in times_ns if t_ns - times_ns[0] >= _SETTLES_NS] or times_ns
    spans = len(late_ns) - 1
    per_s = spans * _NS_PER_S / (late_ns[-1] - late_ns[0]) if spans > 0 and late_ns[-1] > late_ns[0] else 0.0
    return seen_in(last.load(), per_s)


def seen_in(image: Image, per_s: float) -> Seen:
    """Return what a picture is like, shape (H, W, 3), BGR."""
    high, wide = image.shape[:2]
    shrinks = min(1.0, _WIDE_PX / max(high, wide))
    small = cv2.resize(image, None, fx=shrinks, fy=shrinks, interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(np.float32)
    return Seen(
        wide_px=wide,
        high_px=high,
        per_s=per_s,
        grey=float(grey.mean()),
        contrast=float(grey.std()),
        sharpness=_sharpness(grey),
        glare=float((grey >= _GLARE).mean()),
    )


def _sharpness(grey: np.ndarray) -> float:
    """Return how strong the finest edges are against those that survive any focus."""
    fine, coarse = cv2.GaussianBlur(grey, (0, 0), 1.0), cv2.GaussianBlur(grey, (0, 0), 4.0)
    edges = float(np.percentile(np.abs(fine - coarse), 99.5))
    return float(np.percentile(np.abs(grey - fine), 99.5)) / max(edges, 1e-3)


def check_camera(name: str, seen: Seen) -> tuple[Finding, ...]:
    """Return whether what a camera shows is good enough to play by."""
    if seen.error:
        return (problem("camera", seen.error.removeprefix(f"{name}: "), "What there is:", "tallybone cameras"),)
    return (_check_picture(name, seen), *_check_light(seen))


def _check_picture(name: str, seen: Seen) -> Finding:
    pace = f", {seen.per_s:.0f} a second" if seen.per_s else ""
    words = f"{name}: {seen.wide_px}x{seen.high_px}{pace}"
    if max(seen.wide_px, seen.high_px) < _WIDE_PX or min(seen.wide_px, seen.high_px) < _HIGH_PX:
        return warning("camera", words, "Tiles are small in it. A camera with 1280x720 reads better.")
    # A folder or a video has the pace at which it was filmed.
    if name.startswith(_LIVE) and seen.per_s < _SLOW_PER_S:
        mend = "Slow: more light makes it faster (it exposes longer in the dark), so does a USB socket of its own."
        return warning("camera", words, mend)
    return ok("camera", words)


def _check_light(seen: Seen) -> tuple[Finding, ...]:
    how = f"grey {seen.grey:.0f} of 255, contrast {seen.contrast:.0f}"
    if seen.contrast < _FLAT:
        return (problem("picture", f"all of one colour ({how})", "Is the cap on the lens, or the table in the dark?"),)
    if seen.grey < _DARK:
        return (warning("picture", f"dark ({how})", "Light the table: a lamp from the side, not beside the camera."),)
    if seen.grey > _BRIGHT or seen.glare > _GLARE_SHARE:
        words = f"too bright ({how}, {seen.glare:.0%} white)"
        return (
            warning("picture", words, "Turn the lamp away from the table, or put a cloth on it that does not shine."),
        )
    if seen.sharpness < _BLURRED:
        words = f"blurred (edges {seen.sharpness:.2f}, at least {_BLURRED:.2f} wanted)"
        mend = "Turn the lens until pips have edges; wipe it; on an empty cloth this says nothing: lay some tiles."
        return (warning("picture", words, mend),)
    return (ok("picture", f"bright and sharp enough ({how}, edges {seen.sharpness:.2f})"),)
