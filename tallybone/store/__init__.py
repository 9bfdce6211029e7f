"""Files of a table: table.toml, calibrations, and settings kept between matches."""
