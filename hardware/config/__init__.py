"""Settings of table.toml: validation, the base class of drivers, and their registry."""
