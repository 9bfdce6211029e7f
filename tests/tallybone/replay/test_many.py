"""Tests of replaying many recordings: sorted lines, equal results anywhere, and isolated failures."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallybone.replay.command import ReplayedRecording, Spread, over_cluster, over_cores, replay_many
from tallybone.replay.run import ReplaySettings
from tallybone.sources.source import GameOverrides
from tests.tallybone.recorded_game import record_game


class Run:
    """A run of the command, with its output."""

    def __init__(
        self,
        folder: Path,
        spread: Spread,
        settings: ReplaySettings | None = None,
        *,
        as_json: bool = True,
        log_only: bool = True,
    ) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.code = replay_many(folder, spread, settings, is_log_only=log_only, as_json=as_json, out=out, err=err)
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two games, an invalid recording between them, and another file."""
    for name, seed in (("c", 5), ("a", 1)):
        record_game(tmp_path / f"{name}.mcap", seed=seed)
    (tmp_path / "b.mcap").write_bytes(b"no recording")
    (tmp_path / "notes.txt").write_text("no recording either")
    return tmp_path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a local cluster of two workers, with its files in a temporary folder."""
    import dask
    from distributed import LocalCluster

    scratch = tmp_path_factory.mktemp("cluster")
    # By default the dashboard uses port 8787 on all interfaces, and warns if it is taken.
    with (
        dask.config.set({"temporary-directory": str(scratch)}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
    ):
        yield cluster.scheduler_address


@pytest.mark.slow
def test_each_recording_has_a_line_in_name_order_and_the_total_another(folder: Path) -> None:
    run = Run(folder, over_cores(1))
    a, b, c, total = run.lines
    assert [line["file"] for line in (a, b, c)] == ["a.mcap", "b.mcap", "c.mcap"]
    assert a["result"]["plays"] > 0 < c["result"]["plays"]
    assert b["result"] is None
    assert "b.mcap" in b["problems"][0]
    plays = a["result"]["plays"] + c["result"]["plays"]
    assert total["result"] == {"recordings": 3, "failed": 1, "damaged": 0, "frames": 0, "hands": 2, "plays": plays}
    assert run.code == 1
    assert run.err.count("b.mcap") == 1


@pytest.mark.slow
def test_two_processes_give_the_same_output_as_a_single_one(folder: Path) -> None:
    assert Run(folder, over_cores(2)).out == Run(folder, over_cores(1)).out


def test_sentences_are_sorted_by_name(folder: Path) -> None:
    a, b, c, total = Run(folder, over_cores(1), as_json=False).out.splitlines()
    assert a.startswith("a.mcap: Ann ")
    assert b == "b.mcap: it could not be replayed"
    assert c.startswith("c.mcap: Ann ")
    assert total.startswith("3 recordings, 1 could not be replayed, 0 damaged: 2 hands, ")
    run = Run(folder, over_cores(1), ReplaySettings(game=GameOverrides("bones", players=("Mia", "Noa"))))
    assert list(run.lines[0]["result"]["totals"]) == ["Mia", "Noa"]


def test_a_truncated_recording_is_counted_as_damaged(folder: Path) -> None:
    (folder / "b.mcap").unlink()
    data = (folder / "c.mcap").read_bytes()
    (folder / "c.mcap").write_bytes(data[: len(data) // 2])
    run = Run(folder, over_cores(1))
    assert run.lines[-1]["result"]["damaged"] == 1
    assert run.lines[-1]["result"]["failed"] == 0
    assert 0 < run.lines[1]["result"]["plays"]
    assert run.code == 1


def test_rejects_a_folder_without_recordings(tmp_path: Path) -> None:
    run = Run(tmp_path, over_cores(1))
    assert (run.code, run.out) == (1, "")
    assert "there is none" in run.err


@pytest.mark.parametrize(("spread", "module"), [(over_cores(2), "joblib"), (over_cluster("tcp://x:1"), "distributed")])
def test_names_the_extra_of_a_missing_package(
    tmp_path: Path, spread: Spread, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    (tmp_path / "a.mcap").touch()
    run = Run(tmp_path, spread)
    assert (run.code, f"{module} is missing" in run.err, "pip install " in run.err) == (1, True, True)


@pytest.mark.slow
def test_images_are_read_in_worker_processes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        record_game(tmp_path / f"{name}.mcap")  # its images are grey, so only button presses have an effect
    single, parallel = (Run(tmp_path, over_cores(jobs), log_only=False) for jobs in (1, 2))
    assert single.out == parallel.out
    assert parallel.code == 0
    assert parallel.lines[-1]["result"]["frames"] > 20


@pytest.mark.slow
def test_a_cluster_gives_the_same_output(folder: Path, cluster: str) -> None:
    run = Run(folder, over_cluster(cluster))
    assert run.out.replace(str(folder), "") == Run(folder, over_cores(1)).out.replace(str(folder), "")
    assert run.lines[-1]["result"]["failed"] == 1


@pytest.mark.slow
def test_a_failing_worker_affects_only_its_recording(folder: Path, cluster: str) -> None:
    def task(path: Path) -> ReplayedRecording:
        if path.name == "b.mcap":
            raise MemoryError("too large")
        return ReplayedRecording({"plays": 1}, path.name, ())

    a, b, c = over_cluster(cluster)(task, sorted(folder.glob("*.mcap")))
    assert (a.text, c.text) == ("a.mcap", "c.mcap")
    assert b.result is None
    assert "too large" in b.problems[0]
