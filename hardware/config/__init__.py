"""Settings of parts and of table.toml: validation, the base of all drivers, and their registry."""
