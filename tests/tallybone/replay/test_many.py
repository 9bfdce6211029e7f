"""Many recordings at once: the same lines in name order wherever the work is done; a broken file costs only itself."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallybone.replay.many import ReplayedRecording, Spread, over_cluster, over_cores, replay_many
from tallybone.replay.run import ReplaySettings
from tallybone.sources.source import GameOverrides
from tests.tallybone.recorded_game import record_game


class Run:
    """One run of the command and what it left behind."""

    def __init__(
        self,
        folder: Path,
        spread: Spread,
        wishes: ReplaySettings | None = None,
        *,
        as_json: bool = True,
        log_only: bool = True,
    ) -> None:
        out, err = io.StringIO(), io.StringIO()
        self.code = replay_many(folder, spread, wishes, is_log_only=log_only, as_json=as_json, out=out, err=err)
        self.out, self.err = out.getvalue(), err.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three games, the middle one no recording at all, and something else."""
    for name, seed in (("c", 5), ("a", 1)):
        record_game(tmp_path / f"{name}.mcap", seed=seed)
    (tmp_path / "b.mcap").write_bytes(b"no recording")
    (tmp_path / "notes.txt").write_text("no recording either")
    return tmp_path


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a cluster of two workers on loopback; its files are where those of tests are."""
    import dask
    from distributed import LocalCluster

    scratch = tmp_path_factory.mktemp("cluster")
    # By default the dashboard wants port 8787 of every address, and warns where somebody has it.
    with (
        dask.config.set({"temporary-directory": str(scratch)}),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as running,
    ):
        yield running.scheduler_address


@pytest.mark.slow
def test_each_recording_has_a_line_in_name_order_and_there_is_one_for_all(folder: Path) -> None:
    run = Run(folder, over_cores(1))
    a, b, c, total = run.lines
    assert [one["file"] for one in (a, b, c)] == ["a.mcap", "b.mcap", "c.mcap"]
    assert a["result"]["plays"] > 0 < c["result"]["plays"]
    assert b["result"] is None
    assert "b.mcap" in b["problems"][0]
    plays = a["result"]["plays"] + c["result"]["plays"]
    assert total["result"] == {"recordings": 3, "failed": 1, "damaged": 0, "frames": 0, "hands": 2, "plays": plays}
    assert run.code == 1
    assert run.err.count("b.mcap") == 1


@pytest.mark.slow
def test_two_processes_say_the_same_as_one(folder: Path) -> None:
    assert Run(folder, over_cores(2)).out == Run(folder, over_cores(1)).out


def test_sentences_are_in_name_order_too(folder: Path) -> None:
    a, b, c, total = Run(folder, over_cores(1), as_json=False).out.splitlines()
    assert a.startswith("a.mcap: Ann ")
    assert b == "b.mcap: it could not be replayed"
    assert c.startswith("c.mcap: Ann ")
    assert total.startswith("3 recordings, 1 could not be replayed, 0 damaged: 2 hands, ")


def test_a_cut_recording_counts_with_what_is_left_and_is_said_to_be_damaged(folder: Path) -> None:
    (folder / "b.mcap").unlink()
    whole = (folder / "c.mcap").read_bytes()
    (folder / "c.mcap").write_bytes(whole[: len(whole) // 2])
    run = Run(folder, over_cores(1))
    assert run.lines[-1]["result"]["damaged"] == 1
    assert run.lines[-1]["result"]["failed"] == 0
    assert 0 < run.lines[1]["result"]["plays"]
    assert run.code == 1


def test_all_are_scored_by_the_rules_that_are_wished(folder: Path) -> None:
    run = Run(folder, over_cores(1), ReplaySettings(game=GameOverrides("bones", players=("Mia", "Noa"))))
    assert list(run.lines[0]["result"]["totals"]) == ["Mia", "Noa"]


def test_a_folder_without_recordings_is_refused(tmp_path: Path) -> None:
    run = Run(tmp_path, over_cores(1))
    assert (run.code, run.out) == (1, "")
    assert "there is none" in run.err


@pytest.mark.parametrize(("spread", "module"), [(over_cores(2), "joblib"), (over_cluster("tcp://x:1"), "distributed")])
def test_what_is_not_installed_is_named_with_its_extra(
    folder: Path, spread: Spread, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    run = Run(folder, spread)
    assert run.code == 1
    assert f"{module} is missing" in run.err
    assert "pip install 'tallybone[" in run.err


@pytest.mark.slow
def test_pictures_are_read_in_other_processes_too(tmp_path: Path) -> None:
    for name in ("a", "b"):
        record_game(tmp_path / f"{name}.mcap")  # its pictures are grey: nothing is seen, and all presses are fed
    one, two = (Run(tmp_path, over_cores(jobs), log_only=False) for jobs in (1, 2))
    assert one.out == two.out
    assert two.code == 0
    assert two.lines[-1]["result"]["frames"] > 20


@pytest.mark.slow
def test_a_cluster_of_two_workers_says_the_same(folder: Path, cluster: str) -> None:
    run = Run(folder, over_cluster(cluster))
    assert run.out.replace(str(folder), "") == Run(folder, over_cores(1)).out.replace(str(folder), "")
    assert run.lines[-1]["result"]["failed"] == 1


@pytest.mark.slow
def test_a_worker_that_fails_costs_only_its_recording(folder: Path, cluster: str) -> None:
    def task(path: Path) -> ReplayedRecording:
        if path.name == "b.mcap":
            raise MemoryError("too large")
        return ReplayedRecording({"plays": 1}, path.name, ())

    a, b, c = over_cluster(cluster)(task, sorted(folder.glob("*.mcap")))
    assert (a.words, c.words) == ("a.mcap", "c.mcap")
    assert b.result is None
    assert "too large" in b.problems[0]
