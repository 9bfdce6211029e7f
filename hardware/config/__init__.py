"""The parts of a table, as table.toml declares them."""
