"""The table [hardware] of table.toml: its keys, their bounds, and the parts that they describe."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias, TypeVar

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from hardware.buttons.panel import OF_SEATS, SHARED_BUTTONS, button_name
from hardware.config.fields import Lax, NonEmpty, Percent, Pin, Pins, SeatIndex, SpiChip, SpiPort
from hardware.config.part import OFF, ByDriver, PartSettings, PinNames
from hardware.config.pins import conflicts, same_ports
from hardware.config.validation import SettingsTable, worded
from hardware.display.driver import DisplayDriver
from hardware.display.registry import display_drivers
from hardware.leds.shown import LEAST_FOR_ALL, LEDS_FOR, LedsRole
from hardware.pin_factory import PinLibrary

P = TypeVar("P", bound=PartSettings)
ButtonPins = Annotated[Pin | Pins | None, Field(title="BCM pins 2 to 27, one or a list by seat")]
RgbPins = Annotated[
    tuple[Pin, ...],
    Lax,
    Field(min_length=3, max_length=3, title="3 pins for each LED, as [[5, 6, 12]]: red, green, blue"),
]
LedCount = Annotated[int, Field(ge=1, le=300)]
Channel = Annotated[int, Field(ge=0, le=7)]
Shows = Annotated[LedsRole, Lax, Field(description="what the LEDs are for")]


class LedsSettings(PartSettings):
    """One of [[hardware.leds]]."""

    if TYPE_CHECKING:  # each driver declares it, behind the keys that it is checked with
        shows: LedsRole

    @property
    def led_count(self) -> int:
        """How many there are."""
        raise NotImplementedError

    @field_validator("shows", check_fields=False)
    @classmethod
    def _check_count(cls, shows: LedsRole, info: ValidationInfo) -> LedsRole:
        said = info.data.get("count", info.data.get("pins"))
        if said is None:
            return shows
        found, exact = said if isinstance(said, int) else len(said), LEDS_FOR.get(shows)
        if exact is not None and found != exact:
            raise ValueError(f"{shows} takes {exact} LED{'s' if exact > 1 else ''}, but there are {found}")
        if shows is LedsRole.ALL and found < LEAST_FOR_ALL:
            raise ValueError(f"all takes at least {LEAST_FOR_ALL} LEDs, but there are {found}")
        return shows


class SingleSettings(LedsSettings):
    """LEDs of one colour."""

    driver: Literal["single"]
    pins: Annotated[Pins, Field(description="the pin of each LED, BCM")]
    shows: Shows = LedsRole.SEATS

    @property
    def led_count(self) -> int:
        """One for each pin."""
        return len(self.pins)

    @property
    def pin_uses(self) -> PinNames:
        """The pin of each LED."""
        return [(pin, f"LED {number}") for number, pin in enumerate(self.pins, start=1)]


class RgbSettings(LedsSettings):
    """LEDs of three colours with a common cathode."""

    driver: Literal["rgb"]
    pins: Annotated[
        tuple[RgbPins, ...], Lax, Field(title="a list of pins for each LED", description="red, green, blue of each LED")
    ]
    shows: Shows = LedsRole.SEATS

    @property
    def led_count(self) -> int:
        """One for every three pins."""
        return len(self.pins)

    @property
    def pin_uses(self) -> PinNames:
        """Three pins of each LED."""
        return [
            (pin, f"LED {number} {colour}")
            for number, pins in enumerate(self.pins, start=1)
            for pin, colour in zip(pins, ("red", "green", "blue"), strict=True)
        ]


class StripSettings(LedsSettings):
    """A WS2812 strip on SPI."""

    driver: Literal["strip"]
    count: Annotated[LedCount, Field(description="how many LEDs it has")]
    spi: SpiChip = SpiPort()
    percent: Annotated[Percent, Field(description="brightness")] = 30
    shows: Shows = LedsRole.SEATS

    @property
    def led_count(self) -> int:
        """How many it has."""
        return self.count

    @property
    def spi_port(self) -> SpiPort:
        """The SPI that it is wired to."""
        return self.spi


class VirtualLedsSettings(LedsSettings):
    """LEDs on the panel of the terminal or the page."""

    driver: Literal["virtual"]
    count: Annotated[LedCount | None, Field(description="how many; else as many as they are for")] = None
    shows: Shows = LedsRole.ALL

    @property
    def led_count(self) -> int:
        """As many as they are for, unless the file says how many."""
        usual = LEAST_FOR_ALL + 3 if self.shows is LedsRole.ALL else LEDS_FOR.get(self.shows, 4)
        return self.count or usual


class GpioSettings(PartSettings):
    """Buttons between a pin and ground."""

    driver: Literal["gpio"]
    call: ButtonPins = None
    knock: ButtonPins = None
    draw: ButtonPins = None
    done: ButtonPins = None
    next: Pin | None = None
    undo: Pin | None = None
    stands: Pin | None = None
    hand_end: Pin | None = None
    redeal: Pin | None = None
    stack: Pin | None = None
    table: Pin | None = None

    @property
    def wired(self) -> dict[str, int]:
        """The pin of each button, by its name."""
        found: dict[str, int] = {}
        for button in (*OF_SEATS, *SHARED_BUTTONS):
            said: int | tuple[int, ...] | None = getattr(self, button)
            by_seat = enumerate(said) if isinstance(said, tuple) else [(None, said)]
            found |= {button_name(button, seat): pin for seat, pin in by_seat if pin is not None}
        return found

    @property
    def pin_uses(self) -> PinNames:
        """The pin of each button."""
        return [(pin, f"button {name}") for name, pin in self.wired.items()]


class MicrophoneWire(StrEnum):
    """How a microphone is connected."""

    USB = "usb"
    I2S = "i2s"


class PiezoSettings(PartSettings):
    """Piezos, one or one for each seat."""

    @field_validator("pin", "channel", "seat", check_fields=False)
    @classmethod
    def _one_or_several(cls, value: int | None, info: ValidationInfo) -> int | None:
        several = "pins" if info.data["driver"] == "piezo-pin" else "channels"
        if several not in info.data:
            return value  # reported already
        if value is not None and info.data[several] is not None:
            raise ValueError(f"is said by {several} too, which are one for each seat")
        if value is None and info.data[several] is None and info.field_name == "pin":
            raise ValueError("has to be said")
        return value


_I2S_PINS = ((18, "I2S clock"), (19, "I2S word select"), (20, "I2S data in"), (21, "I2S data out"))


class MicrophoneSettings(PartSettings):
    """A microphone."""

    driver: Literal["microphone"]
    device: Annotated[
        Annotated[int, Field(ge=0, le=1000)] | NonEmpty | None,
        Field(title="a number of 0 to 1000, or a part of a name", description="which; else the system's own choice"),
    ] = None
    wire: Annotated[MicrophoneWire, Lax, Field(description="how it is connected")] = MicrophoneWire.USB

    @property
    def location(self) -> str:
        """The folder of all sound cards."""
        return "/dev/snd"

    @property
    def bus_uses(self) -> PinNames:
        """The pins of I2S if it is wired to them."""
        return _I2S_PINS if self.wire is MicrophoneWire.I2S else ()


class PiezoPinSettings(PiezoSettings):
    """Piezos with comparators."""

    driver: Literal["piezo-pin"]
    pins: Annotated[Pins | None, Field(description="one for each seat, BCM")] = None
    pin: Annotated[Pin | None, Field(description="the only one, BCM")] = None
    seat: SeatIndex | None = None

    @property
    def wired(self) -> tuple[int, ...]:
        """The pin of each piezo."""
        return self.pins or (() if self.pin is None else (self.pin,))

    @property
    def seats(self) -> tuple[int | None, ...]:
        """Whose side each piezo is at, 0 upwards; None for the whole table."""
        return (self.seat,) if self.pins is None else tuple(range(len(self.pins)))

    @property
    def pin_uses(self) -> PinNames:
        """The pin of each piezo."""
        names = ("piezo" if seat is None else f"piezo {seat + 1}" for seat in self.seats)
        return list(zip(self.wired, names, strict=False))


def _each_once(channels: tuple[int, ...]) -> tuple[int, ...]:
    for place, channel in enumerate(channels):
        if channel in channels[:place]:
            raise ValueError(f"expected channels 0 to 7, each once, but got {channel}")
    return channels


class PiezoSpiSettings(PiezoSettings):
    """Piezos behind an MCP3008."""

    driver: Literal["piezo-spi"]
    channels: Annotated[
        Annotated[
            tuple[Channel, ...],
            Lax,
            Field(
                min_length=1, max_length=8, title="a list of 1 to 8 channels", json_schema_extra={"uniqueItems": True}
            ),
            AfterValidator(_each_once),
        ]
        | None,
        Field(description="one for each seat"),
    ] = None
    channel: Annotated[Channel | None, Field(description="the only one, else 0")] = None
    seat: SeatIndex | None = None
    spi: SpiChip = SpiPort()

    @property
    def wired(self) -> tuple[int, ...]:
        """The channel of each piezo."""
        return self.channels or (self.channel or 0,)

    @property
    def seats(self) -> tuple[int | None, ...]:
        """Whose side each piezo is at, 0 upwards; None for the whole table."""
        return (self.seat,) if self.channels is None else tuple(range(len(self.channels)))

    @property
    def spi_port(self) -> SpiPort:
        """The SPI that the MCP3008 is wired to."""
        return self.spi


class WavSettings(PartSettings):
    """A sound file, to try without a sensor."""

    driver: Literal["wav"]
    file: Annotated[NonEmpty, Field(description="the file")]


class VirtualSettings(PartSettings):
    """A part of the panel in the terminal or on the page."""

    driver: Literal["virtual"]


ButtonsSettings: TypeAlias = GpioSettings | VirtualSettings
KnockSettings: TypeAlias = MicrophoneSettings | PiezoPinSettings | PiezoSpiSettings | WavSettings | VirtualSettings
DisplaySettings: TypeAlias = DisplayDriver | VirtualSettings


class HardwareSettings(SettingsTable):
    """The table [hardware]."""

    leds: Annotated[
        tuple[
            Annotated[
                LedsSettings, ByDriver("NoLeds", SingleSettings, RgbSettings, StripSettings, VirtualLedsSettings)
            ],
            ...,
        ],
        Lax,
    ] = ()
    buttons: Annotated[ButtonsSettings, ByDriver("NoButtons", GpioSettings, VirtualSettings)] | None = None
    knock: (
        Annotated[
            KnockSettings,
            ByDriver("NoKnock", MicrophoneSettings, PiezoPinSettings, PiezoSpiSettings, WavSettings, VirtualSettings),
        ]
        | None
    ) = None
    displays: Annotated[
        tuple[Annotated[DisplaySettings, ByDriver("NoDisplay", VirtualSettings, more=display_drivers)], ...], Lax
    ] = ()
    pins: Annotated[PinLibrary, Lax, Field(description="what drives the pins")] = PinLibrary.LGPIO

    @property
    def parts(self) -> tuple[PartSettings, ...]:
        """All parts."""
        return tuple(part for part in (*self.leds, self.buttons, self.knock, *self.displays) if part is not None)

    def without(self, driver: str) -> Self:
        """Return the same without the parts that have a driver; those with `OFF` are switched off."""

        def kept(part: PartSettings | None) -> bool:
            return part is not None and part.driver != driver

        found = {
            "leds": tuple(filter(kept, self.leds)),
            "buttons": self.buttons if kept(self.buttons) else None,
            "knock": self.knock if kept(self.knock) else None,
            "displays": tuple(filter(kept, self.displays)),
        }
        return self.model_copy(update=found)

    @field_validator("leds", "displays")
    @classmethod
    def _name_each(cls, said: tuple[P, ...], info: ValidationInfo) -> tuple[P, ...]:
        name = f"hardware.{info.field_name}"
        if len(said) == 1:
            return (said[0].named(name),)
        return tuple(part.named(f"{name} {number}") for number, part in enumerate(said, start=1))

    @field_validator("buttons", "knock")
    @classmethod
    def _name_one(cls, said: P | None, info: ValidationInfo) -> P | None:
        return None if said is None else said.named(f"hardware.{info.field_name}")

    @model_validator(mode="after")
    def _check_conflicts(self) -> Self:
        there = self.without(OFF)
        found = (*conflicts(there.parts), *same_ports(there.displays))
        if found:
            raise worded(found)
        return self
