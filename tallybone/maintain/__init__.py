"""Keep a table going: back up and restore all that it keeps, and update it to a new version."""
