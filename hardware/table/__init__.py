"""All parts of one table: their settings, opening them, and running them."""
