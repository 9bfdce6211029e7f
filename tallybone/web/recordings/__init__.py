"""Recordings on the page: list, replay, statistics, other rules, exports, and a hand as one file."""
