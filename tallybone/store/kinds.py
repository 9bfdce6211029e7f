"""The kinds of events at a table: the words by which [[webhooks]] asks for them, and by which they are told."""

from __future__ import annotations

from enum import StrEnum


class EventKind(StrEnum):
    """What can happen at a table."""

    MATCH_BEGAN = "match_began"
    MATCH_OVER = "match_over"
    MATCH_LEFT = "match_left"
    HAND_BEGAN = "hand_began"
    PLAY = "play"
    PLAY_CHANGED = "play_changed"
    PLAY_REMOVED = "play_removed"
    POINTS = "points"
    QUESTION = "question"
    ANSWERED = "answered"
