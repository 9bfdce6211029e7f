"""All parts of a table: settings, opening, and supervision."""
