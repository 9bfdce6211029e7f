"""Keep the last valid version of table.toml, so that an invalid one does not stop the table."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from hardware.config.validation import ConfigError
from tallybone.files import sentence_of, write_durably
from tallybone.store.table_file import USUAL_PATH, TableFile, load_table

LAST_TABLE = "last_table.toml"
"""Name of the copy of the last valid table.toml in the state folder."""


def load_valid_table(path: Path | None, last: Path, *, usual: Path = USUAL_PATH) -> tuple[TableFile, tuple[str, ...]]:
    """Load table.toml as `load_table`, or the last valid version if it cannot be used.

    Args:
        path: The file. None for *usual*.
        last: Copy of the last valid version, which this function keeps.
        usual: Default path.

    Returns:
        The content, or the defaults if no version was valid, and the problems of the file.

    Raises:
        FileNotFoundError: If *path* does not exist.
    """
    try:
        table = load_table(path, usual=usual)
    except FileNotFoundError:
        raise
    except (ConfigError, OSError) as error:
        problems = error.problems if isinstance(error, ConfigError) else (sentence_of(error),)
        with suppress(ConfigError, OSError):
            return load_table(usual=last), problems
        return TableFile(), problems
    with suppress(OSError):  # A disk that is full or read-only does not keep the table from its game.
        _keep(table, last)
    return table, ()


def _keep(table: TableFile, last: Path) -> None:
    """Copy the file of *table* to *last*."""
    if table.path is None:
        last.unlink(missing_ok=True)
    elif not last.exists() or last.read_bytes() != table.path.read_bytes():
        write_durably(last, table.path.read_text(encoding="utf-8"), mode=0o600)
