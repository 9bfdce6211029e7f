"""Run the table that is always on: set-up, camera, page, health, metrics, systemd."""
