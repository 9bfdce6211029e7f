"""What a table builder has soldered or plugged in, as the file table.toml says it."""
