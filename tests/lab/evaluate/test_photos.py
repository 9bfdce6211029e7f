"""Tests of judging a reading against its label: each rule, and agreement with an independent scorer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lab.evaluate.labels import HalfLabel, IgnoredBox, LabelFace, PhotoLabel, TileLabel, parse_labels
from lab.evaluate.mistakes import MAX_CELLS, Cell, Mistake, MistakeKind, crop_mistake, draw_sheets, mistakes_in
from lab.evaluate.photos import (
    JudgedConfidence,
    by_half_px,
    claims_of,
    count_photo,
    expected_calibration_error,
    judge_photo,
    sort_into_bins,
    total,
)
from tallybone.show.reading import format_reading
from vision.image.annotate import ORANGE
from vision.reading import Face, Half, Join, PointPx, Reading, SeenTile

SIDE_PX = 40.0


def label_at(first: int, second: int, x: float, y: float) -> TileLabel:
    left, right = (x - SIDE_PX / 2, y), (x + SIDE_PX / 2, y)
    return TileLabel(LabelFace.UP, (x, y), (HalfLabel(first, left), HalfLabel(second, right)))


def box(x: float, y: float) -> tuple[PointPx, PointPx, PointPx, PointPx]:
    long, short = SIDE_PX, SIDE_PX / 2
    return ((x - long, y - short), (x + long, y - short), (x + long, y + short), (x - long, y + short))


def seen(first: int, second: int, x: float, y: float, *, chances: tuple[float, ...] = ()) -> SeenTile:
    a = Half(first, 0.9, (x - SIDE_PX / 2, y), chances=chances)
    return SeenTile(Face.UP, box(x, y), (a, Half(second, 0.8, (x + SIDE_PX / 2, y))))


def back(x: float, y: float) -> SeenTile:
    return SeenTile(Face.DOWN, box(x, y), ())


def unsure(x: float, y: float) -> SeenTile:
    return SeenTile(Face.UNSURE, box(x, y), ())


def reading(*tiles: SeenTile, joins: tuple[Join, ...] = ()) -> Reading:
    return Reading(1000, 1000, tiles, joins)


def text(label: PhotoLabel, reading_: Reading) -> list[str]:
    return [mistake.text for mistake in mistakes_in(judge_photo(label, reading_))]


def test_a_tile_read_in_reverse_is_right() -> None:
    (x, y) = (100.0, 100.0)
    reversed_tile = SeenTile(
        Face.UP, box(x, y), (Half(5, 1.0, (x + SIDE_PX / 2, y)), Half(2, 1.0, (x - SIDE_PX / 2, y)))
    )
    assert text(PhotoLabel("a.jpg", (label_at(2, 5, x, y),)), reading(reversed_tile)) == []


def test_wrong_pips_are_reported_with_their_confidence() -> None:
    assert text(PhotoLabel("a.jpg", (label_at(2, 5, 100, 100),)), reading(seen(2, 6, 100, 100))) == [
        "2-5 read as 2-6 (0.80)"
    ]


def test_a_tile_is_found_within_a_third_of_a_side() -> None:
    label = PhotoLabel("a.jpg", (label_at(2, 5, 100, 100),))
    assert text(label, reading(seen(2, 5, 100, 113))) == []
    assert text(label, reading(seen(2, 5, 100, 115))) == ["missed 2-5", "spare 2-5 (0.80)"]


def test_the_nearer_of_two_readings_counts_and_the_other_is_spare() -> None:
    label = PhotoLabel("a.jpg", (label_at(2, 5, 100, 100),))
    assert text(label, reading(seen(1, 1, 100, 108), seen(2, 5, 100, 101))) == ["spare 1-1 (0.80)"]


def test_ignored_and_standing_tiles_do_not_count() -> None:
    label = PhotoLabel(
        "a.jpg",
        (label_at(2, 5, 100, 100), TileLabel(LabelFace.STANDING, (300, 300), ())),
        ignored=(IgnoredBox(500, 500, 600, 600),),
    )
    assert text(label, reading(seen(2, 5, 100, 100), back(310, 310), seen(1, 2, 550, 550), back(550, 520))) == []
    assert text(label, reading(seen(2, 5, 100, 100), back(400, 310))) == ["spare face-down tile"]


def test_a_tile_below_an_unsure_object_is_missed_but_not_silent() -> None:
    label = PhotoLabel("a.jpg", (label_at(2, 5, 100, 100), label_at(1, 1, 300, 300)))
    photo = judge_photo(label, reading(unsure(100, 139), unsure(300, 341)))
    counts = count_photo(photo)
    assert (counts.found, counts.silent, counts.unsure_false) == (0, 1, 1)
    assert [mistake.text for mistake in mistakes_in(photo)] == [
        "missed 2-5, reported as unsure",
        "missed 1-1",
        "reported as unsure, but not a tile",
    ]


def test_an_unsure_object_on_a_back_an_edge_or_an_ignored_box_is_not_false() -> None:
    label = PhotoLabel(
        "a.jpg",
        (TileLabel(LabelFace.DOWN, (100, 100), ()), TileLabel(LabelFace.STANDING, (300, 300), ())),
        ignored=(IgnoredBox(500, 500, 600, 600),),
    )
    assert count_photo(judge_photo(label, reading(unsure(110, 100), unsure(290, 300)))).unsure_false == 0
    assert count_photo(judge_photo(label, reading(unsure(550, 550), unsure(200, 200)))).unsure_false == 1


def test_an_unsure_object_is_neither_a_spare_tile_nor_a_back() -> None:
    label = PhotoLabel("a.jpg", (label_at(2, 5, 100, 100), TileLabel(LabelFace.DOWN, (300, 300), ())))
    counts = count_photo(judge_photo(label, reading(seen(2, 5, 100, 100), unsure(300, 300), unsure(105, 100))))
    assert (counts.perfect, counts.spare, counts.backs_found, counts.backs_spare) == (1, 0, 0, 0)


def test_a_misread_half_is_bold_above_the_confidence_threshold() -> None:
    label = PhotoLabel("a.jpg", (label_at(2, 5, 100, 100), label_at(2, 5, 300, 300)))
    wrong_both = judge_photo(label, reading(seen(1, 6, 100, 100), seen(2, 5, 300, 300)))
    assert count_photo(wrong_both).bold == 2
    doubtful = SeenTile(Face.UP, box(100, 100), (Half(1, 0.79, (80, 100)), Half(5, 0.9, (120, 100))))
    assert count_photo(judge_photo(label, reading(doubtful))).bold == 0


def test_backs_are_matched_by_position() -> None:
    label = PhotoLabel("a.jpg", (label_at(2, 5, 100, 100), TileLabel(LabelFace.DOWN, (300, 300), ())))
    assert text(label, reading(seen(2, 5, 100, 100), back(320, 310))) == []
    assert text(label, reading(seen(2, 5, 100, 100), back(340, 300))) == [
        "missed face-down tile",
        "spare face-down tile",
    ]


def test_joins_are_compared_by_the_matched_tiles() -> None:
    label = PhotoLabel(
        "a.jpg", (label_at(2, 5, 100, 100), label_at(5, 1, 180, 100), label_at(1, 1, 260, 100)), (Join(0, 1, 1, 0),)
    )
    tiles = (seen(1, 1, 260, 100), seen(5, 1, 180, 100), seen(2, 5, 100, 100))
    assert text(label, reading(*tiles, joins=(Join(1, 0, 2, 1),))) == []
    spare, missed = "spare join 1-1 to 5-1", "missed join 2-5 to 5-1"
    assert text(label, reading(*tiles, joins=(Join(0, 0, 1, 1),))) == [missed, spare]


def test_joins_are_not_judged_without_labels() -> None:
    label = PhotoLabel("a.jpg", (label_at(2, 5, 100, 100), label_at(5, 1, 180, 100)))
    reading_ = reading(seen(2, 5, 100, 100), seen(5, 1, 180, 100), joins=(Join(0, 1, 1, 0),))
    assert text(label, reading_) == []
    assert count_photo(judge_photo(label, reading_)).joins_said == 0


def test_readings_of_single_halves_are_counted_separately() -> None:
    label = PhotoLabel("a.jpg", (label_at(2, 5, 100, 100),))
    counts = count_photo(judge_photo(label, reading(seen(2, 5, 100, 100, chances=(0.1, 0.7, 0.2)))))
    assert (counts.right, counts.half_errors) == (1, 0)
    assert (counts.alone_right, counts.alone_half_errors) == (0, 1)


def test_halves_of_a_spare_tile_are_wrong_claims() -> None:
    label = PhotoLabel("a.jpg", (label_at(2, 5, 100, 100),))
    photo = judge_photo(label, reading(seen(2, 6, 100, 100), seen(1, 1, 300, 300)))
    assert [(claim.confidence, claim.is_right) for claim in claims_of([photo])] == [
        (0.9, True),
        (0.8, False),
        (0.9, False),
        (0.8, False),
    ]


def test_tiles_are_counted_by_half_size() -> None:
    small = TileLabel(LabelFace.UP, (20, 20), (HalfLabel(0, (15, 20)), HalfLabel(0, (25, 20))))
    photo = judge_photo(PhotoLabel("a.jpg", (label_at(2, 5, 100, 100), small)), reading(seen(2, 5, 100, 100)))
    assert {name: (counts.tiles, counts.right) for name, counts in by_half_px([photo]).items()} == {
        "below 20": (1, 0),
        "40 to 60": (1, 1),
    }


def muddled(rng: np.random.Generator) -> tuple[dict[str, object], Reading]:
    """Return a label and a reading with mistakes of every kind, with the one decimal of the JSON output."""
    labels: list[dict[str, object]] = []
    tiles: list[SeenTile] = []
    for index in range(12):
        x, y = 120.0 + 110 * (index % 4), 120.0 + 100 * (index // 4)
        pips = [int(value) for value in rng.integers(0, 4, 2)]
        face = str(rng.choice(["up", "up", "up", "down", "standing"]))
        centers = [[x - SIDE_PX / 2, y], [x + SIDE_PX / 2, y]]
        halves = [{"c": center, "pips": value} for center, value in zip(centers, pips, strict=True)]
        labels.append({"face": face, "halves": halves} if face == "up" else {"face": face, "c": [x, y]})
        dx, dy = (round(float(value), 1) for value in rng.normal(0, 9, 2))
        if rng.random() < 0.8:
            same = rng.random() < 0.7
            tiles.append(seen(pips[0], pips[1] if same else 4, x + dx, y + dy))
        if rng.random() < 0.3:
            tiles.append(back(x + dy, y + dx))
        if rng.random() < 0.2:
            tiles.append(unsure(x + 3 * dx, y + 3 * dy))
    up = [index for index, label in enumerate(labels) if label["face"] == "up"]
    ends = [sorted(rng.choice(up, 2, replace=False).tolist()) for _ in range(3)]
    joins = [[[a, int(rng.integers(2))], [b, int(rng.integers(2))]] for a, b in ends]
    pairs = [rng.choice(len(tiles), 2, replace=False).tolist() for _ in range(4)]
    seen_joins = tuple(Join(a, a_half, b, 1 - a_half) for (a, b), a_half in zip(pairs, (0, 1, 0, 1), strict=True))
    valid_joins = seen_joins if all(tiles[j.a].halves and tiles[j.b].halves for j in seen_joins) else ()
    ignored = [[0, 0, 160, 130]] if rng.random() < 0.5 else []
    return {"tiles": labels, "joins": joins, "ignore": ignored}, reading(*tiles, joins=valid_joins)


def test_the_figures_agree_with_an_independent_scorer(shared_data: Path, tmp_path: Path) -> None:
    tool = shared_data.parent / "tools" / "score_read.py"
    if not tool.is_file():
        pytest.skip("the independent scorer of readings is not available")
    rng = np.random.default_rng(3)
    cases = {f"some/{index}.jpg": muddled(rng) for index in range(120)}
    raw_labels = [{"image": image, **label} for image, (label, _) in cases.items()]
    (tmp_path / "labels.json").write_text(json.dumps(raw_labels))
    lines = "\n".join(format_reading(f"/{image}", reading_, read_ms=1) for image, (_, reading_) in cases.items())
    command = [sys.executable, str(tool), str(tmp_path / "labels.json"), str(tmp_path), "--json", "--more"]
    result = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    theirs = json.loads(result.stdout)
    labels = parse_labels(raw_labels)
    assert labels.faults == ()
    photos = [judge_photo(label, cases[label.image][1]) for label in labels.photos]
    counts = total(photos)
    totals = {"pictures": counts.pictures, "tiles": counts.tiles, "down_false": counts.backs_spare}
    ours = {**totals, "unsure_false": counts.unsure_false, **counts.shares()}
    assert {name: ours[name] for name in theirs} == theirs
    # The comparison is meaningful only if mistakes of every kind occur.
    assert {mistake.wrong for photo in photos for mistake in mistakes_in(photo)} == set(MistakeKind)


# Tests of the contact sheet of mistakes: crops, cells and sheets.


OUTLINE = ((40.0, 40.0), (60.0, 40.0), (60.0, 50.0), (40.0, 50.0))
MISSED = Mistake(MistakeKind.MISSED, "missed 1-1", (OUTLINE,))


def test_a_crop_centres_the_tile_and_leaves_its_face_uncovered() -> None:
    image = np.full((100, 100, 3), 60, np.uint8)
    image[40:50, 40:60] = 255
    crop = crop_mistake(image, MISSED)
    assert crop.shape == (232, 232, 3)
    assert (crop[100:132, 80:152] == 255).all()
    assert (crop[:20] == 60).all()
    assert (crop == ORANGE).all(axis=2).any()


def test_a_crop_at_the_image_border_is_grey_outside() -> None:
    crop = crop_mistake(np.full((45, 100, 3), 60, np.uint8), MISSED)
    assert (crop[-10:] == 200).all()
    assert (crop[:10] == 60).all()


def test_a_mistake_in_a_large_image_is_smoothed_when_reduced() -> None:
    image = np.zeros((2000, 2000, 3), np.uint8)
    image[::2] = 255
    wide = Mistake(MistakeKind.MISSED, "", (((100.0, 100.0), (1900.0, 100.0), (1900.0, 1900.0), (100.0, 1900.0)),))
    centre = crop_mistake(image, wide)[100:130, 100:130]
    assert abs(int(centre.mean()) - 127) < 3
    assert int(centre.max()) - int(centre.min()) < 30


def cells(count: int, source: str = "a") -> list[Cell]:
    return [Cell(source, "p.jpg", "missed 1-1", np.zeros((232, 232, 3), np.uint8)) for _ in range(count)]


def black_cells(sheet: np.ndarray) -> int:
    return round(int((sheet == 0).all(axis=2).sum()) / 232**2)


def test_every_mistake_has_a_cell_and_a_sheet_has_two_hundred() -> None:
    sheets = list(draw_sheets(cells(MAX_CELLS + 3)))
    assert [black_cells(sheet) for sheet in sheets] == [MAX_CELLS, 3]


def test_each_source_starts_a_row_with_its_name() -> None:
    (single_source,), (two_sources,) = (list(draw_sheets(cells(2))), list(draw_sheets([*cells(1), *cells(1, "b")])))
    assert two_sources.shape[0] > single_source.shape[0] + 232
    assert black_cells(single_source) == black_cells(two_sources) == 2


def test_without_mistakes_there_is_no_sheet() -> None:
    assert list(draw_sheets([])) == []


# Tests of reliability: confidence bins and the expected calibration error.


@pytest.mark.parametrize(("confidence", "low"), [(0.0, 0.0), (0.4999, 0.0), (0.5, 0.5), (0.95, 0.95), (0.9899, 0.95)])
def test_a_bin_includes_its_lower_edge(confidence: float, low: float) -> None:
    (full,) = [b for b in sort_into_bins([JudgedConfidence(confidence, is_right=True)]) if b.claims]
    assert full.low == low


def test_full_confidence_is_in_the_last_bin() -> None:
    last = sort_into_bins([JudgedConfidence(1.0, is_right=True), JudgedConfidence(0.99, is_right=False)])[-1]
    assert (last.claims, last.right, last.mean_confidence, last.share_right) == (2, 1, 0.995, 0.5)


def test_the_error_weights_each_bin_by_its_claims() -> None:
    # Three of four right at 0.6: |0.75 - 0.6| * 4/5. None of one right at 0.9: 0.9 * 1/5.
    claims = [JudgedConfidence(0.6, is_right=right) for right in (True, True, True, False)] + [
        JudgedConfidence(0.9, is_right=False)
    ]
    assert expected_calibration_error(sort_into_bins(claims)) == pytest.approx(0.15 * 0.8 + 0.9 * 0.2)


def test_there_is_no_error_without_claims() -> None:
    assert expected_calibration_error(sort_into_bins([])) is None
