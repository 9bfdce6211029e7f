"""HTTP routes of an always-on table, one module per subject."""
