"""Pose and zones of the table: measured from corner blocks, tiles or clicked corners, and checked later."""
