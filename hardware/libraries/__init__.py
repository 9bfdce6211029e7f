"""Optional device libraries: opening pins, and the command that installs what is missing."""
