"""The table [hardware] of table.toml: its keys, their bounds, and the parts that they describe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    PlainSerializer,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from hardware.config.config import (
    LEAST_FOR_ALL,
    LEDS_FOR,
    OF_SEATS,
    SHARED,
    SPI_PORTS,
    ButtonPin,
    ButtonsDriver,
    ButtonsPart,
    DisplayPart,
    HardwareConfig,
    KnockDriver,
    KnockPart,
    LedsDriver,
    LedsPart,
    LedsRole,
    MicrophoneWire,
    SpiPort,
)
from hardware.config.fields import Lax, NonEmpty, Percent, SeatIndex
from hardware.config.pins import conflicts
from hardware.config.validation import ByDriver, PartSettings, SettingsTable, worded
from hardware.display.driver import DisplayDriver
from hardware.display.registry import display_drivers
from hardware.pin_factory import PinLibrary

T = TypeVar("T")
# Pins 0 and 1 belong to the memory of boards that are put on top.
Pin = Annotated[int, Field(ge=2, le=27, title="BCM pins")]
Pins = Annotated[tuple[Pin, ...], Lax, Field(title="a list of pins")]
ButtonPins = Annotated[Pin | Pins | None, Field(title="BCM pins 2 to 27, one or a list by seat")]
RgbPins = Annotated[
    tuple[Pin, ...],
    Lax,
    Field(min_length=3, max_length=3, title="3 pins for each LED, as [[5, 6, 12]]: red, green, blue"),
]
LedCount = Annotated[int, Field(ge=1, le=300)]
Channel = Annotated[int, Field(ge=0, le=7)]
SpiChip = Annotated[
    SpiPort,
    PlainValidator(lambda said: SpiPort.parse(str(said))),
    PlainSerializer(str),
    WithJsonSchema({"type": "string", "enum": list(SPI_PORTS), "description": "bus and chip select"}),
]
Shows = Annotated[LedsRole, Lax, Field(description="what the LEDs are for")]


class LedsSettings(PartSettings):
    """One of [[hardware.leds]]."""

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


class RgbSettings(LedsSettings):
    """LEDs of three colours with a common cathode."""

    driver: Literal["rgb"]
    pins: Annotated[
        tuple[RgbPins, ...], Lax, Field(title="a list of pins for each LED", description="red, green, blue of each LED")
    ]
    shows: Shows = LedsRole.SEATS


class StripSettings(LedsSettings):
    """A WS2812 strip on SPI."""

    driver: Literal["strip"]
    count: Annotated[LedCount, Field(description="how many LEDs it has")]
    spi: SpiChip = SpiPort()
    percent: Annotated[Percent, Field(description="brightness")] = 30
    shows: Shows = LedsRole.SEATS


class VirtualLedsSettings(LedsSettings):
    """LEDs on the panel of the terminal or the page."""

    driver: Literal["virtual"]
    count: Annotated[LedCount | None, Field(description="how many; else as many as they are for")] = None
    shows: Shows = LedsRole.ALL


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


class MicrophoneSettings(PartSettings):
    """A microphone."""

    driver: Literal["microphone"]
    device: Annotated[
        Annotated[int, Field(ge=0, le=1000)] | NonEmpty | None,
        Field(title="a number of 0 to 1000, or a part of a name", description="which; else the system's own choice"),
    ] = None
    wire: Annotated[MicrophoneWire, Lax, Field(description="how it is connected")] = MicrophoneWire.USB


class PiezoPinSettings(PiezoSettings):
    """Piezos with comparators."""

    driver: Literal["piezo-pin"]
    pins: Annotated[Pins | None, Field(description="one for each seat, BCM")] = None
    pin: Annotated[Pin | None, Field(description="the only one, BCM")] = None
    seat: SeatIndex | None = None


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


class WavSettings(PartSettings):
    """A sound file, to try without a sensor."""

    driver: Literal["wav"]
    file: Annotated[NonEmpty, Field(description="the file")]


class VirtualSettings(PartSettings):
    """A part of the panel in the terminal or on the page."""

    driver: Literal["virtual"]


class HardwareSettings(SettingsTable):
    """The table [hardware]."""

    leds: Annotated[
        tuple[
            Annotated[
                PartSettings, ByDriver("NoLeds", SingleSettings, RgbSettings, StripSettings, VirtualLedsSettings)
            ],
            ...,
        ],
        Lax,
    ] = ()
    buttons: Annotated[PartSettings, ByDriver("NoButtons", GpioSettings, VirtualSettings)] | None = None
    knock: (
        Annotated[
            PartSettings,
            ByDriver("NoKnock", MicrophoneSettings, PiezoPinSettings, PiezoSpiSettings, WavSettings, VirtualSettings),
        ]
        | None
    ) = None
    displays: Annotated[
        tuple[Annotated[PartSettings, ByDriver("NoDisplay", VirtualSettings, more=display_drivers)], ...], Lax
    ] = ()
    pins: Annotated[PinLibrary, Lax, Field(description="what drives the pins")] = PinLibrary.LGPIO

    @property
    def config(self) -> HardwareConfig:
        """The parts that are not switched off."""
        return HardwareConfig(
            tuple(_each("hardware.leds", self.leds, _leds)),
            _buttons(self.buttons),
            _knock(self.knock),
            tuple(_each("hardware.displays", self.displays, _display)),
            self.pins,
        )

    @model_validator(mode="after")
    def _check_conflicts(self) -> Self:
        found = conflicts(self.config)
        if found:
            raise worded(found)
        return self


def _each(name: str, settings: Sequence[PartSettings], part_of: Callable[[PartSettings, str], T | None]) -> Iterator[T]:
    """Yield parts that are not switched off, by name; with a number where there are several."""
    for number, said in enumerate(settings, start=1):
        part = part_of(said, name if len(settings) == 1 else f"{name} {number}")
        if part is not None:
            yield part


def _leds(said: PartSettings, name: str) -> LedsPart | None:
    match said:
        case SingleSettings():
            pins = tuple((pin,) for pin in said.pins)
            return LedsPart(LedsDriver.SINGLE, said.shows, len(pins), pins, name=name)
        case RgbSettings():
            return LedsPart(LedsDriver.RGB, said.shows, len(said.pins), said.pins, name=name)
        case StripSettings():
            return LedsPart(LedsDriver.STRIP, said.shows, said.count, (), said.spi, said.percent, name)
        case VirtualLedsSettings():
            usual = LEAST_FOR_ALL + 3 if said.shows is LedsRole.ALL else LEDS_FOR.get(said.shows, 4)
            return LedsPart(LedsDriver.VIRTUAL, said.shows, said.count or usual, name=name)
        case _:
            return None


def _buttons(said: PartSettings | None) -> ButtonsPart | None:
    match said:
        case GpioSettings():
            pins: list[ButtonPin] = []
            for button in (*OF_SEATS, *SHARED):
                wired: int | tuple[int, ...] | None = getattr(said, button)
                by_seat = enumerate(wired) if isinstance(wired, tuple) else [(None, wired)]
                pins += [ButtonPin(button, seat, pin) for seat, pin in by_seat if pin is not None]
            return ButtonsPart(ButtonsDriver.GPIO, tuple(pins))
        case VirtualSettings():
            return ButtonsPart(ButtonsDriver.VIRTUAL)
        case _:
            return None


def _knock(said: PartSettings | None) -> KnockPart | None:
    match said:
        case MicrophoneSettings():
            return KnockPart(KnockDriver.MICROPHONE, device=said.device, wire=said.wire)
        case PiezoPinSettings():
            pins = said.pins or (() if said.pin is None else (said.pin,))
            return KnockPart(KnockDriver.PIEZO_PIN, pins=pins, seats=_seats(said.pins, said.seat))
        case PiezoSpiSettings():
            channels, seats = said.channels or (said.channel or 0,), _seats(said.channels, said.seat)
            return KnockPart(KnockDriver.PIEZO_SPI, spi=said.spi, channels=channels, seats=seats)
        case WavSettings():
            return KnockPart(KnockDriver.WAV, file=Path(said.file))
        case VirtualSettings():
            return KnockPart(KnockDriver.VIRTUAL)
        case _:
            return None


def _seats(several: tuple[int, ...] | None, seat: int | None) -> tuple[int | None, ...]:
    """Return whose side each piezo is at."""
    return (seat,) if several is None else tuple(range(len(several)))


def _display(said: PartSettings, name: str) -> DisplayPart | None:
    match said:
        case DisplayDriver():
            return DisplayPart(said, name)
        case VirtualSettings():
            return DisplayPart(name=name)
        case _:
            return None
