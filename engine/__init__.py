"""Rules of domino games, as pure functions on immutable values. Uses only the standard library.

A match is a fold over its events: ``apply(state, event)`` returns the next state and the outcomes to display.
``legal_plays`` and ``ends`` return the open ends where a tile can be played, and ``problem_with`` checks an event
before it is applied. A ``Table`` also holds the players' hands, for programs that play.

>>> from engine import BONES, MatchStart, NewHand, Play, Seat, Spot, Port, NodeId, Tile, replay
>>> state = replay(
...     [
...         MatchStart(BONES, ("Brian", "Tom")),
...         NewHand(),
...         Play(Seat(0), Tile.parse("5-5")),
...         Play(Seat(1), Tile.parse("5-0"), Spot(NodeId(2), Port.E)),
...     ]
... )
>>> print(state.game.count, state.game.totals)
5 + 5 + 0 = 10 (10, 10)
"""

from engine.errors import EngineError, OptionsError, type_checked
from engine.game.fold import ActionResult, apply, entries, history, last_seats, problem_with, replay, replayed
from engine.game.questions import copies_left, ends, highest_leader, legal_plays, legal_stacks, turn, unseen
from engine.library.board import HandBoard
from engine.library.chances import NumberChance, Outlook, SeatChance, chances
from engine.library.players import Suggestion, TreeSearch, best_plays, greedy
from engine.library.table import IllegalMove, LegalMove, SeatView, Table, legal_moves, perft
from engine.record.conversion import format_move, parse_move, record_of
from engine.record.play import Line, PlayedRecord, RecordResult, play_record
from engine.record.position import format_position, format_view, parse_position, parse_view
from engine.record.text import Record, RecordError, format_record, parse_record
from engine.rules import options as _options
from engine.rules import rules as _rules
from engine.rules.options import *
from engine.rules.options import changed_options, parse_options, with_options
from engine.rules.rules import *
from engine.state import events, outcomes
from engine.state.descriptions import describe
from engine.state.events import *
from engine.state.events import HandResult, Holding, round_nearest, settle
from engine.state.layout import (
    ARMS,
    Count,
    Layout,
    Node,
    NodeId,
    OpenEnd,
    Port,
    Spot,
    Term,
    attach,
    count,
    obstacle,
    points_for,
)
from engine.state.match import (
    Chance,
    Claim,
    Course,
    Entry,
    Game,
    Hand,
    House,
    HouseTally,
    LeadTile,
    Mark,
    Phase,
    RowMark,
    RowsTally,
    Spell,
    State,
    Stroke,
)
from engine.state.outcomes import *
from engine.state.outcomes import Problem, ProblemKind, Weight
from engine.tiles import Tile, full_set, set_name

# Grouped by topic, in the order of docs/reference/library.md.
# Tiles and sets of tiles
__all__ = ["Tile", "full_set", "set_name"]
# Games, their rules and options
__all__ += _options.__all__
__all__ += _rules.__all__
__all__ += ["OptionsError", "changed_options", "parse_options", "with_options"]
# A table with all hands known: whole matches, computer players, searches
__all__ += ["IllegalMove", "SeatView", "Table", "HandBoard", "perft", "LegalMove", "legal_moves"]
__all__ += ["Suggestion", "best_plays", "NumberChance", "Outlook", "SeatChance", "chances", "TreeSearch", "greedy"]
# Refereeing: a match as a fold over events
__all__ += ["ActionResult", "Entry", "apply", "entries", "history", "last_seats", "problem_with", "replay", "replayed"]
__all__ += ["Game", "Phase", "State", "Chance", "Claim", "Course", "Hand", "LeadTile", "Spell"]
# Events (input)
__all__ += events.__all__
# Outcomes (output) and their descriptions
__all__ += outcomes.__all__
__all__ += ["describe"]
# Problems with an event
__all__ += ["Problem", "ProblemKind", "Weight", "EngineError"]
# Questions about a match
__all__ += ["copies_left", "ends", "highest_leader", "legal_plays", "legal_stacks", "unseen", "turn"]
# The layout, its count, the end of a hand, marks on paper
__all__ += ["ARMS", "Layout", "Node", "NodeId", "OpenEnd", "Port", "Spot", "attach", "obstacle", "Count", "Term"]
__all__ += ["count", "points_for", "HandResult", "Holding", "round_nearest", "settle", "House", "HouseTally", "Mark"]
__all__ += ["RowMark", "RowsTally", "Stroke"]
# Game records and positions as text
__all__ += ["Record", "RecordError", "format_record", "parse_record", "Line", "PlayedRecord", "RecordResult"]
__all__ += ["play_record", "record_of", "format_position", "parse_position", "format_view", "parse_view", "format_move"]
__all__ += ["parse_move"]

globals().update({_name: type_checked(globals()[_name]) for _name in __all__})
