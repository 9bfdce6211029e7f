"""Pose, zones and light of the table, measured from corner blocks, tiles or clicked corners."""
