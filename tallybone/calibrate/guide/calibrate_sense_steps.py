"""The steps of the guide that look at the light and listen to knocks."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

from calibration.errors import RefusedError
from calibration.light import LightFound, Trouble
from engine.phrases import phrase
from hardware.camera.device import Clock, Light
from hardware.knock.heard import NS_PER_S
from tallybone.calibrate.guide.steps import GO_ON, Choice, Drawn, Kind, LookStep, Result, StepName, points_of
from tallybone.calibrate.knock import Hearing, MakeSensor, timetable
from tallybone.calibrate.lens_and_table import ReadTiles
from tallybone.calibrate.light import LightSeen, look_at_light, write_drawn
from tallybone.calibrate.look import Image, Onlooker, Scene
from tallybone.show.over_pictures import draw_light
from tallybone.store.calibration_file import Calibration

_LISTEN = "l"
_LIGHTS = {
    Light.FREE: phrase("free"),
    Light.SETTLING: phrase("settling"),
    Light.HELD: phrase("held"),
    Light.CANNOT_BE_HELD: phrase("cannot be held"),
}
# Corners of what is drawn as a circle.
_ROUND = 16


class LightStep(LookStep):
    """Holds the light, and looks whether it shows every pip."""

    name, scene = StepName.LIGHT, Scene.TILES
    choices = (Choice(GO_ON, phrase("look")),)

    def __init__(self, before: Calibration, look: Onlooker, read_tiles: ReadTiles, folder: Path) -> None:
        """Look through *look*; a picture with what is wrong is drawn into *folder*."""
        self._before, self._look, self._read_tiles, self._folder = before, look, read_tiles, folder
        self._image: Image | None = None

    todo = (phrase("Switch on the light that you play in, and lay open tiles all over the table."),)

    @property
    def seen(self) -> tuple[str, ...]:
        """What the camera does about light."""
        return (phrase("The camera's light: {state}.", state=_LIGHTS[self._look.light]),)

    def see(self, image: Image) -> None:
        """Keep it."""
        self._image = image

    def result(self) -> Result:
        """Return how the light is."""
        image = self._image
        if image is None:
            raise RefusedError(phrase("the camera has given no picture yet"))
        seen = look_at_light(image, self._read_tiles(image), self._look)
        if seen.kept.contrast is None:
            raise RefusedError(phrase("neither tiles nor markers are seen: lay open tiles on the table"))
        note = self._drawn(image, seen) if seen.found.warnings else ""
        low, high = seen.kept.contrast
        words = phrase("{low} to {high} grey levels between face and pips", low=f"{low:.0f}", high=f"{high:.0f}")
        return Result(replace(self._before, light=seen.kept), words, seen.found.warnings, _shapes_of(seen.found), note)

    def _drawn(self, image: Image, seen: LightSeen) -> str:
        return f"drawn into {write_drawn(self._folder, 'light.png', draw_light(image, seen.found))}"


def _shapes_of(found: LightFound) -> tuple[Drawn, ...]:
    """Return tiles and markers, those good that are well lit, and glare between them."""
    spots = [(spot, found.trouble_at(spot)) for spot in found.spots]
    tiles = [
        Drawn(Kind.TILE, points_of(spot.corners_px), "" if trouble is None else trouble.value, is_good=trouble is None)
        for spot, trouble in spots
    ]
    patches = [
        Drawn(Kind.PATCH, points_of(_round(x_px, y_px, radius_px)), Trouble.GLARE.value, is_good=False)
        for x_px, y_px, radius_px in found.patches
    ]
    return (*tiles, *patches)


def _round(x_px: float, y_px: float, radius_px: float) -> list[tuple[float, float]]:
    ways = [math.tau * at / _ROUND for at in range(_ROUND)]
    return [(x_px + radius_px * math.cos(way), y_px + radius_px * math.sin(way)) for way in ways]


class KnockStep:
    """Listens through the timetable: quiet, tiles, then each seat."""

    name, scene = StepName.KNOCK, None
    choices = (Choice(_LISTEN, phrase("listen from the begin")),)
    drawn: tuple[Drawn, ...] = ()

    def __init__(self, before: Calibration, seats: int, made: MakeSensor, clock: Clock) -> None:
        """Listen with a sensor that *made* gives."""
        self._before, self._made, self._clock = before, made, clock
        self._parts = timetable(seats)
        self._hearing: Hearing | None = None

    @property
    def todo(self) -> tuple[str, ...]:
        """What to do in this part."""
        if self._hearing is None:
            lasts_s = self._parts[-1].to_s
            ready = phrase(
                "Lay the tiles ready. Listening takes {seconds} seconds, and says what to do.", seconds=lasts_s
            )
            return (ready,)
        return (self._hearing.part.words,)

    @property
    def seen(self) -> tuple[str, ...]:
        """How long this part goes on, and how much was heard."""
        if self._hearing is None:
            return ()
        part, passed_s = self._hearing.part, self._hearing.passed_s
        if passed_s < part.from_s:
            return (phrase("Get ready."),)
        count = sum(part.from_s <= one.t_ns / NS_PER_S < part.to_s for one in self._hearing.heard)
        more_s = max(0, round(part.to_s - passed_s))
        return (phrase("{seconds} seconds more, {sounds} sounds heard.", seconds=more_s, sounds=count),)

    @property
    def is_enough(self) -> bool:
        """Whether the timetable is over."""
        return self._hearing is not None and self._hearing.is_over

    def see(self, image: Image) -> None:
        """Look at nothing."""

    def listen(self) -> None:
        """Take what was heard."""
        if self._hearing is None:
            return
        try:
            self._hearing.listen()
        except RefusedError:
            self.close()
            raise

    def pressed(self, key: str) -> None:
        """Begin."""
        if key == _LISTEN:
            self.close()
            self._hearing = Hearing(self._made, self._parts, self._clock)

    def result(self) -> Result:
        """Return how knocks sound."""
        hearing = self._hearing
        if hearing is None or not hearing.is_over:
            raise RefusedError(phrase("it has not been listened to the end"))
        self.close()
        kept = hearing.fitted()
        words = phrase(
            "{found} of {knocks} knocks found, {passed} of {tiles} tiles pass for one",
            found=kept.found,
            knocks=kept.knocks,
            passed=kept.passed,
            tiles=kept.tiles,
        )
        warnings = (phrase("Some tiles sound more like a knock than the weakest knock."),) if kept.margin < 0 else ()
        return Result(replace(self._before, knock=kept), words, warnings)

    def close(self) -> None:
        """Let the sensor go."""
        if self._hearing is not None:
            self._hearing.close()
            self._hearing = None
