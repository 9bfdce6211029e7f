"""Keep the files that a table owns: table.toml, calibration, and what it remembers between matches."""
