"""Sounds of devices, animals, weather, music and drums near a table, and bumps of the microphone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lab.sounds.signals import (
    RATE_HZ,
    Waveform,
    band_noise,
    burst,
    colour,
    convolve,
    normalized,
    overlay,
    panel,
    pulses,
    ringing,
    samples_of,
    uniform_log,
    wander,
)
from lab.sounds.utterances import FRAME_S, Articulation, draw_speaker, laugh, shout, synthesize, talk

# Semitones of a scale.
_SCALE = np.array([-5, -3, 0, 2, 4, 5, 7, 9, 12])


def wind(rng: np.random.Generator) -> Waveform:
    """Return wind or breath on a microphone for 0.2 to 3 s: gusts of noise that falls by 3 to 9 dB per octave.

    Turbulence at a microphone has most energy below 100 to 500 Hz (Morgan and Raspet 1992, Investigation of the
    mechanisms of low-frequency wind noise generation outdoors).
    """
    count = samples_of(uniform_log(rng, 0.2, 3.0))
    gusts = np.exp(rng.uniform(0.3, 2.0) * wander(rng, count, rate_hz=uniform_log(rng, 1, 15)))
    swell = np.minimum(
        1, np.minimum(np.arange(count), np.arange(count)[::-1]) / (RATE_HZ * uniform_log(rng, 0.005, 0.08))
    )
    rumble = band_noise(
        rng, count, low_hz=uniform_log(rng, 40, 120), high_hz=uniform_log(rng, 100, 1500), slope=rng.uniform(1, 3)
    )
    return normalized(rumble * gusts * swell)


def phone(rng: np.random.Generator) -> Waveform:
    """Return a ring tone, notification, microwave or clock: one to twelve notes of 0.03 to 0.6 s.

    The notes lie between 300 and 4500 Hz. They are beeps with sharp edges, chirps, or struck bars and bells.
    """
    kind = rng.choice(["beep", "chirp", "bell", "two tones"])
    base_hz, note_s = uniform_log(rng, 300, 4500), uniform_log(rng, 0.03, 0.6)
    gap_s, is_melody = note_s + float(rng.choice([0.0, uniform_log(rng, 0.02, 0.4)])), rng.random() < 0.6
    harmonics = rng.uniform(0, 0.6, 3)
    parts = []
    for index in range(min(int(rng.integers(1, 13)), int(3.0 / gap_s) + 1)):
        hz = min(5000.0, base_hz * 2 ** (int(rng.integers(-7, 8)) / 12 if is_melody else 0))
        parts.append((index * gap_s, _note(rng, str(kind), hz, note_s, harmonics)))
    return normalized(colour(rng, overlay(parts), spread_db=rng.uniform(0, 3)))


def _note(rng: np.random.Generator, kind: str, hz: float, lasts_s: float, harmonics: NDArray[np.float64]) -> Waveform:
    """Return a note of a loudspeaker."""
    if kind == "bell":
        modes_hz = hz * np.array([1.0, 2.76, 5.40, 2.0])
        is_audible = modes_hz < 7800
        decays = np.array([1.0, 3.0, 6.0, 2.0]) / uniform_log(rng, 0.04, 0.4)
        gains = np.array([1.0, *harmonics])
        return ringing(modes_hz[is_audible], decays[is_audible], gains[is_audible], count=samples_of(lasts_s * 1.5))
    count = samples_of(lasts_s)
    times_s = np.arange(count) / RATE_HZ
    glide = {"chirp": rng.uniform(-0.6, 1.0), "beep": 0.0}.get(kind, 0.0)
    turns = hz * times_s * (1 + glide * times_s / lasts_s / 2)
    if kind == "two tones":  # a warble of two tones, as of old telephones
        turns = np.cumsum(hz * np.where(np.sin(2 * np.pi * uniform_log(rng, 8, 30) * times_s) > 0, 1.0, 1.25)) / RATE_HZ
    sound = np.sin(2 * np.pi * turns)
    for number, gain in zip((2, 3, 5), harmonics, strict=True):
        if number * hz * (1 + max(0.0, glide)) < 7800:
            sound += gain * np.sin(2 * np.pi * number * turns)
    edge = RATE_HZ * 0.0005 * 2 ** rng.uniform(0, 5)
    return sound * np.minimum(1, np.minimum(np.arange(count) + 1, np.arange(count)[::-1]) / edge)


def vibration(rng: np.random.Generator) -> Waveform:
    """Return a telephone or shaver that vibrates on a table: one to five buzzes at 90 to 240 Hz with a rattle."""
    hz, buzz_s = uniform_log(rng, 90, 240), uniform_log(rng, 0.08, 0.8)
    rattle_s, body_hz = uniform_log(rng, 0.0002, 0.003), uniform_log(rng, 80, 600)
    body = panel(
        rng, from_hz=body_hz, to_hz=min(7800, body_hz * rng.uniform(5, 25)), count=25, loss=(0.03, 0.3), lasts_s=0.15
    )
    parts, at_s = [], 0.0
    for _ in range(int(rng.integers(1, 6))):
        times_s = np.cumsum(rng.normal(1, rng.uniform(0.0, 0.08), max(2, int(hz * buzz_s)))) / hz
        speed_up = np.minimum(1, times_s / uniform_log(rng, 0.01, 0.1))
        force = pulses(
            times_s, speed_up * rng.lognormal(0, rng.uniform(0, 0.6), len(times_s)), rattle_s, total_s=buzz_s
        )
        parts.append((at_s, convolve(force, body)))
        at_s += buzz_s + rng.uniform(0.05, 0.5)
        if at_s > 2.5:
            break
    return normalized(overlay(parts))


def music(rng: np.random.Generator) -> Waveform:
    """Return 0.5 to 3 s of music without drums: plucked, struck or sustained notes, one to three at a time.

    The partials of a string are f n sqrt(1 + B n^2) with the inharmonicity B (Fletcher 1964, Normal vibration
    frequencies of a stiff piano string). Higher partials decay faster.
    """
    return normalized(colour(rng, _melody(rng), spread_db=rng.uniform(0, 3)))


def _melody(rng: np.random.Generator) -> Waveform:
    """Return notes on a beat, with rests, and a little noise."""
    total_s, beat_s = uniform_log(rng, 0.5, 3.0), uniform_log(rng, 0.1, 0.6)
    root_hz, stiff = uniform_log(rng, 60, 700), uniform_log(rng, 1e-5, 2e-3)
    decay_s, bright = uniform_log(rng, 0.08, 1.0), rng.uniform(0.5, 2.0)
    notes = [_string(rng, root_hz * 2 ** (step / 12), stiff, decay_s, bright) for step in rng.choice(_SCALE, 5)]
    swell_s = rng.uniform(0.02, 0.1) if rng.random() < 0.3 else 1 / RATE_HZ
    swell = np.minimum(1, np.arange(len(notes[0])) / (swell_s * RATE_HZ))
    parts = []
    for at_s in np.arange(0, total_s, beat_s):
        for which in rng.choice(5, int(rng.choice([0, 1, 2, 3], p=[0.2, 0.4, 0.2, 0.2])), replace=False):
            parts.append((float(at_s) + abs(rng.normal(0, 0.01)), notes[which] * swell * rng.uniform(0.3, 1)))
    hiss = band_noise(rng, samples_of(total_s), slope=1) * 1e-4
    return overlay([*parts, (0.0, hiss)])


def _string(rng: np.random.Generator, hz: float, stiff: float, decay_s: float, bright: float) -> Waveform:
    """Return a note of a string with twelve partials, plucked or struck at a random point."""
    number = np.arange(1, 13)
    modes_hz = hz * number * np.sqrt(1 + stiff * number**2)
    gains = np.abs(np.sin(np.pi * number * rng.uniform(0.05, 0.5))) / number**bright
    gains[modes_hz > 7800] = 0
    return ringing(
        modes_hz, np.asarray((1 + 0.3 * number) / decay_s, np.float64), gains, count=samples_of(min(0.9, 4 * decay_s))
    )


def beats(rng: np.random.Generator) -> Waveform:
    """Return 1 to 4 s of drums and bass in rhythm, at 70 to 180 beats per minute, as played by a loudspeaker.

    A bar has eight or sixteen steps. Each song has some of: a kick drum on the beats, a snare drum on the off-beats,
    hi-hats, and bass notes. The loudspeaker is full-range, small (no bass), or behind a wall (no treble).
    """
    beat_s, steps_a_beat = 60 / rng.uniform(70, 180), int(rng.choice([2, 4]))
    hats = 0.3 * burst(
        rng, rise_s=0.0005, decay_s=uniform_log(rng, 0.005, 0.1), low_hz=uniform_log(rng, 3000, 6000), high_hz=7900
    )
    parts = [(0.0, band_noise(rng, samples_of(0.1)) * 1e-5)]
    bass = [_string(rng, uniform_log(rng, 40, 130), 1e-4, uniform_log(rng, 0.1, 0.6), 1.5) for _ in range(3)]
    # The kick, the snare, the hats and the bass: the sound, the share of songs, and the chance of each step of a beat.
    kick, snare = _kick(rng), _snare(rng)
    has_kick, has_snare, has_hats, has_bass = rng.random(4) < (0.85, 0.6, 0.6, 0.4)
    has_kick = has_kick or not has_snare
    kick_gain, snare_gain, hat_gain, bass_gain = rng.lognormal((0, -0.2, -1.0, -0.7), 0.6)
    syncopation, hat_chance = rng.uniform(0, 0.3), rng.uniform(0.4, 1)
    late_s = rng.uniform(0, 0.012)
    for step in range(int(uniform_log(rng, 1.0, 4.0) / beat_s * steps_a_beat)):
        beat, inside = divmod(step, steps_a_beat)
        at_s = step * beat_s / steps_a_beat + rng.uniform(0, late_s)
        if has_kick and rng.random() < (syncopation if inside or beat % 2 else 0.97):
            parts.append((at_s, kick * kick_gain * rng.uniform(0.7, 1)))
        if has_snare and not inside and beat % 2:
            parts.append((at_s, snare * snare_gain * rng.uniform(0.7, 1)))
        if has_hats and rng.random() < hat_chance:
            parts.append((at_s, hats * hat_gain * rng.uniform(0.3, 1)))
        if has_bass and rng.random() < 0.4:
            parts.append((at_s, bass[int(rng.integers(3))] * bass_gain * rng.uniform(0.5, 1)))
    limits_hz = ((30, 8000), (uniform_log(rng, 100, 400), 8000), (40, uniform_log(rng, 200, 1500)))
    low_hz, high_hz = limits_hz[int(rng.integers(3))]
    # Higher modes decay faster, so that a level response needs amplitudes that rise with the root of the frequency.
    speaker = panel(
        rng, from_hz=low_hz, to_hz=min(7800, high_hz), count=60, loss=(0.3, 0.8), tilt=rng.uniform(0.3, 1), lasts_s=0.05
    )
    return normalized(colour(rng, convolve(overlay(parts), speaker), spread_db=rng.uniform(0, 3)))


def _kick(rng: np.random.Generator) -> Waveform:
    """Return a kick drum: a sine that falls from about 150 to 45 Hz within 50 ms, and the click of the beater."""
    high_hz, low_hz = uniform_log(rng, 100, 300), uniform_log(rng, 38, 65)
    times_s = np.arange(samples_of(0.5)) / RATE_HZ
    falls_s, decay_s = uniform_log(rng, 0.008, 0.06), uniform_log(rng, 0.04, 0.25)
    turns = low_hz * times_s + (high_hz - low_hz) * falls_s * (1 - np.exp(-times_s / falls_s))
    drum = np.sin(2 * np.pi * turns) * np.exp(-times_s / decay_s)
    click = burst(rng, rise_s=0.0002, decay_s=uniform_log(rng, 0.0005, 0.004), low_hz=uniform_log(rng, 500, 3000))
    return overlay([(0.0, drum), (0.0, click * uniform_log(rng, 0.005, 0.3))])


def _snare(rng: np.random.Generator) -> Waveform:
    """Return a snare drum or hand clap: two modes of the skin, and the rattle of the wires."""
    skin_hz = uniform_log(rng, 150, 280)
    modes_hz, decays = np.array([skin_hz, 1.59 * skin_hz]), np.array([1.0, 1.5]) / uniform_log(rng, 0.03, 0.12)
    skin = ringing(modes_hz, decays, np.array([1.0, 0.6]), count=samples_of(0.3))
    wires = burst(
        rng, rise_s=0.001, decay_s=uniform_log(rng, 0.02, 0.12), low_hz=uniform_log(rng, 600, 2500), high_hz=7500
    )
    return overlay([(0.0, skin * uniform_log(rng, 0.1, 1)), (0.0, wires * uniform_log(rng, 0.05, 0.5))])


def handling(rng: np.random.Generator) -> Waveform:
    """Return bumps or rubs of the microphone, its cable or the recorder: one to six, mostly below 300 Hz.

    Such sounds travel through the case rather than the air, so that they have neither room nor much treble.
    """
    kind = rng.choice(["bump", "rub", "cable"])
    parts, at_s = [], 0.0
    for _ in range(int(rng.integers(1, 7))):
        gain = rng.lognormal(0, 0.5)
        match kind:
            case "bump":
                parts.append((at_s, _bump(rng) * gain))
                at_s += uniform_log(rng, 0.08, 0.9)
            case "rub":
                lasts_s = uniform_log(rng, 0.05, 0.6)
                stroke = band_noise(
                    rng, samples_of(lasts_s), low_hz=uniform_log(rng, 30, 150), high_hz=uniform_log(rng, 150, 800)
                )
                rough = np.exp(rng.uniform(0.2, 1.2) * wander(rng, len(stroke), rate_hz=uniform_log(rng, 15, 150)))
                parts.append((at_s, stroke * rough * np.hanning(len(stroke) + 2)[1:-1] * gain))
                at_s += lasts_s * rng.uniform(0.5, 1.5)
            case _:
                lasts_s = uniform_log(rng, 0.05, 0.5)
                times_s = np.sort(rng.uniform(0, lasts_s, int(lasts_s * uniform_log(rng, 20, 300)) + 1))
                force = pulses(
                    times_s, rng.lognormal(0, 0.8, len(times_s)), uniform_log(rng, 0.001, 0.008), total_s=lasts_s
                )
                parts.append((at_s, convolve(force, _case(rng)) * gain))
                at_s += lasts_s + uniform_log(rng, 0.03, 0.5)
        if at_s > 2.5:
            break
    return normalized(overlay(parts))


def _bump(rng: np.random.Generator) -> Waveform:
    """Return a bump of 5 to 80 ms below 300 Hz, half of them with a click."""
    lasts_s = uniform_log(rng, 0.002, 0.015)
    soft = convolve(pulses(0.0, 1.0, lasts_s, total_s=2 * lasts_s), _case(rng))
    if rng.random() < 0.5:
        return soft
    click = burst(
        rng,
        rise_s=0.0002,
        decay_s=uniform_log(rng, 0.0005, 0.005),
        low_hz=uniform_log(rng, 300, 1500),
        high_hz=uniform_log(rng, 1500, 7000),
    )
    return overlay([(0.0, soft), (rng.uniform(0, 0.005), click * np.abs(soft).max() * uniform_log(rng, 0.005, 0.5))])


def _case(rng: np.random.Generator) -> Waveform:
    """Return the response of a case on its feet or in a hand: one to three damped modes of 40 to 300 Hz."""
    return panel(
        rng, from_hz=uniform_log(rng, 40, 150), to_hz=300, count=int(rng.integers(1, 4)), loss=(0.08, 0.5), lasts_s=0.2
    )


def television(rng: np.random.Generator) -> Waveform:
    """Return a programme of speech, laughter or shouts over music, as played by a small loudspeaker."""
    melody = _melody(rng)
    voices = (talk, talk, laugh, shout)[int(rng.integers(4))](rng)
    parts = [
        (rng.uniform(0, 0.5), voices),
        (0.0, melody / (np.abs(melody).max() + 1e-12) * uniform_log(rng, 0.05, 1.5)),
    ]
    total = overlay(parts)[: samples_of(2.5)]
    hiss = band_noise(rng, len(total), low_hz=1000) * uniform_log(rng, 1e-4, 2e-2)
    low_hz = uniform_log(rng, 80, 400)
    speaker = panel(rng, from_hz=low_hz, to_hz=6000, count=40, loss=(0.2, 0.6), lasts_s=0.05)
    played = convolve(np.tanh(rng.uniform(0.3, 2) * total) + hiss, speaker)
    return normalized(colour(rng, played, spread_db=rng.uniform(0, 3)))


def dog_bark(rng: np.random.Generator) -> Waveform:
    """Return one to five barks or yelps of 60 to 300 ms, 0.2 to 0.7 s apart.

    The pitch of 150 to 1200 Hz rises and falls within a bark (Pongracz et al. 2005, Human listeners are able to
    classify dog barks).
    """
    speaker = replace(
        draw_speaker(rng), pitch_hz=uniform_log(rng, 150, 1200), size=uniform_log(rng, 0.8, 1.8),
        jitter=uniform_log(rng, 0.01, 0.1), breathiness=uniform_log(rng, 0.1, 1.5),
    )  # fmt: skip
    lasts_s, peak, rough = uniform_log(rng, 0.06, 0.3), rng.uniform(1.1, 1.9), rng.uniform(0, 0.4)
    frames = max(4, round(lasts_s / FRAME_S))
    times = np.linspace(0, 1, frames)
    swell = np.append(np.minimum(1, times / rng.uniform(0.03, 0.3)) * (1 - times) ** rng.uniform(0.3, 1.5), 0.0)
    pitch = np.append(1 + (peak - 1) * np.sin(np.pi * times ** rng.uniform(0.5, 1.2)), 1.0)
    start_hz, end_hz = np.array([450.0, 1200, 2400]), np.array([800.0, 1500, 2700])
    formants_hz = start_hz + (end_hz - start_hz) * np.append(np.sin(np.pi * times), 0.0)[:, None]
    flat = np.full(frames + 1, 2000.0)
    parts, at_s = [], 0.0
    for _ in range(int(rng.integers(1, 6))):
        shifted = pitch * rng.normal(1, 0.05)
        moves = Articulation(shifted, swell, swell * rough, np.zeros(frames + 1), flat, formants_hz)
        parts.append((at_s, synthesize(rng, speaker, moves) * rng.uniform(0.5, 1)))
        at_s += lasts_s + uniform_log(rng, 0.12, 0.5)
    return normalized(
        colour(rng, np.tanh(overlay(parts) * 0.2 * uniform_log(rng, 0.3, 3)), spread_db=rng.uniform(0, 4))
    )


def dripping(rng: np.random.Generator) -> Waveform:
    """Return drops of a tap, rain or a drink poured: bubbles and impacts, 1 to 150 per second for 0.1 to 2 s.

    A bubble of radius r rings at 3.26 m/s / r and rises in pitch as it nears the surface (Minnaert 1933; van den Doel
    2005, Physically based models for liquid sounds). Radii of 0.6 to 8 mm give 400 to 5400 Hz.
    """
    total_s = uniform_log(rng, 0.1, 2.0)
    count = max(1, int(total_s * uniform_log(rng, 1, 150)))
    min_m, spread = uniform_log(rng, 0.0006, 0.003), rng.uniform(0.05, 1.0)
    lasts = samples_of(0.12)
    times_s = np.arange(lasts) / RATE_HZ
    total = np.zeros(samples_of(total_s) + lasts)
    starts = np.sort(rng.integers(0, samples_of(total_s), count))
    starts -= starts[0]
    few = [_bubble(rng, 3.26 / (min_m * np.exp(rng.uniform(0, spread))), times_s) for _ in range(min(count, 12))]
    pushes = rng.lognormal(0, 0.6, count)
    for start, push in zip(starts, pushes, strict=True):
        total[start : start + lasts] += few[int(rng.integers(len(few)))] * push
    splashes = pulses(starts / RATE_HZ, pushes, uniform_log(rng, 0.0001, 0.001), total_s=len(total) / RATE_HZ)
    surface = panel(rng, from_hz=uniform_log(rng, 100, 2000), to_hz=7500, count=25, loss=(0.03, 0.4), lasts_s=0.1)
    splash = convolve(splashes, surface)[: len(total)]
    return normalized(colour(rng, total + splash * uniform_log(rng, 0.02, 3), spread_db=rng.uniform(0, 4)))


def _bubble(rng: np.random.Generator, hz: float, times_s: NDArray[np.float64]) -> Waveform:
    """Return a bubble: a decaying sine whose pitch rises by up to the rate of its decay (van den Doel 2005)."""
    radius_m = 3.26 / hz
    decay = 0.13 / radius_m + 0.0072 * radius_m**-1.5
    rise = uniform_log(rng, 0.01, 1) * decay
    # The decay ends the sound before the pitch can pass half the sample rate.
    turns = hz * (times_s + rise * np.minimum(times_s, 1 / decay) ** 2 / 2)
    return np.asarray(np.sin(2 * np.pi * turns) * np.exp(-decay * times_s))
