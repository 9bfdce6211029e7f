"""`tallybone update`: another version from a wheel, made beside the one that runs, and taken back where it fails."""
