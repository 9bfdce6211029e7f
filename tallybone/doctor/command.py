"""Run `tallybone doctor`: check table.toml and all its parts, and print each finding immediately."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from rich.text import Text

from tallybone.doctor.examine import as_values, examine, is_well, lines_of, summary
from tallybone.doctor.probes import Probes, RealProbes
from tallybone.files import reason_of
from tallybone.finding import Finding, absent, ok, problem
from tallybone.recording.folder import default_folder
from tallybone.store.table_file import USUAL_PATH, TableFile, TableFileError, load_table
from tallybone.terminal import Output, printable


def doctor(
    path: Path | None,
    *,
    as_json: bool = False,
    probes: Probes | None = None,
    folder: Path | None = None,
    bundle: Path | None = None,
    out: TextIO | None = None,
) -> int:
    """Check a table and print the findings.

    Args:
        path: Path of table.toml. None for the default one, which need not exist.
        as_json: Print one JSON object at the end instead.
        probes: Access to the machine, by default this one.
        folder: Folder of recordings, by default that of `tallybone play`.
        bundle: Path of the support bundle to write, or None.
        out: Stream for the findings, by default stdout.

    Returns:
        The exit code: 0, or 1 if there is a problem or the bundle cannot be written.
    """
    output = Output.of("doctor", out, None)
    console = output.console
    probes = probes or RealProbes(threading.Event().wait)
    folder = folder or default_folder(os.environ, Path.home())
    found: list[Finding] = []
    for finding in _examined(path, folder, probes):
        found.append(finding)
        if not as_json:
            for line in lines_of(finding):
                console.print(Text.assemble(*line), soft_wrap=True)
    findings = tuple(found)
    if as_json:
        output.write(json.dumps(as_values(findings)))
    else:
        console.print(Text(f"\n{summary(findings)}", style="bold"), soft_wrap=True)
    if bundle is not None:
        try:
            _write(bundle, path, folder, findings, probes)
        except OSError as error:
            return output.complain(f"--bundle {bundle}: cannot write the file: {reason_of(error)}")
        output.err.write(f"{printable(str(bundle))} can be sent with a support request; review it first.\n")
    return 0 if is_well(findings) else 1


def _write(bundle: Path, path: Path | None, folder: Path, findings: tuple[Finding, ...], probes: Probes) -> None:
    """Write a support bundle.

    Raises:
        OSError: If the file cannot be written.
    """
    from tallybone.doctor.bundle import BundleSources, bundle_texts, write_bundle

    try:
        table = load_table(path)
    except (TableFileError, OSError):
        table = TableFile()
    place = BundleSources(
        table=table, config=path or USUAL_PATH, folder=folder, findings=findings, machine=probes.machine()
    )
    write_bundle(bundle, bundle_texts(place))


def _examined(path: Path | None, folder: Path, probes: Probes) -> Iterator[Finding]:
    """Check table.toml and then its parts. An invalid or missing file is treated as one without parts."""
    try:
        table = load_table(path)
    except TableFileError as error:
        table = TableFile()
        for text in error.problems:
            yield problem(
                "table.toml", text, "" if text is not error.problems[-1] else "docs/start/wiring.md has an example."
            )
    except OSError as error:
        table = TableFile()
        yield problem("table.toml", f"{path}: {reason_of(error)}", "Check the path.")
    else:
        is_there = table.path is not None
        yield ok("table.toml", str(table.path)) if is_there else absent("table.toml", f"there is no {USUAL_PATH}")
    yield from examine(table, folder, probes)
