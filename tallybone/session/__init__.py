"""Follow a sitting: a pure machine that decodes hands from all inputs, and returns the announcements to show.

Theory of operation
===================

A hand is a hidden sequence of actions: plays, passes, draws, calls, and the tiles shown at its end. The camera misses
some, microphone and buttons report others, and some leave no trace. The decoder keeps all observations of the hand and
looks for the sequence that explains them best. People see the result, and whether it is certain.

Observation (`observations.py`): a look. It is a settled view of the table with the sounds and presses before it: the
face-up tiles (`Piece`) that are new, moved, gone or back, the boneyard's count, open hands, and the side from which
hands came. Answers of the players are observations, too.

Course (`decoder.py`): a possible sequence of actions. Its weight, in log odds, falls with each action (pips as read,
fit to the port, rules, sides, sounds, presses) and with everything that it leaves unexplained at a look. Only what the
rules call impossible is excluded. Long gaps need no other method: many actions happened before one look.

Forwards, a look extends every course by the actions that the turn allows. The likeliest courses are kept, one of each
position, with the weights of all that led there. Backwards, after a costly look, the likeliest courses are changed in
one place of the hand's past (a draw, pass or reveal more or less, another leader, a tile taken back) and played again.
The seat to move makes each repeated action, so one pass more moves all later plays by a seat.

Evidence outranks belief. Sizes of hands, the turn and the boneyard are beliefs, and a look costs as much as it
contradicts them. If a tile joins the layout after somebody seemed to be out, the draw that was missed is inferred,
because leaving the tile out costs more. Without zones, draws follow from the plays that need them, and the sides of
hands are unknown. Zones make both certain.

Results: `course.py` brings the log in line with the likeliest course. Totals are provisional while the likeliest have
less than 98 % of the weight, a look was surprising, or something on the table is unexplained: a piece, a press, a
miscounted boneyard, open tiles during play. If they have less than 90 % for 6 s, `questions.py` asks for the score and
offers up to three totals and "something else". Play goes on; an answer adds to the weights. A finished hand is final
after four tiles of the next. Plays and corrections entered by hand outrank all courses: the decoder starts again from
the log (`session.anchored`). `put_right.py` asks which hand is on the table and whose turn it is, and lets the decoder
explain the layout.

Weights
=======

Costs in log odds: 2.3 is a factor of 10. They are judgements, tried on the matches of docs/experiments/gaps.md.

belief.py
    _MIN_ERROR       0.001     a half is misread at least this often: rules matter at any confidence
    _PLAUSIBLE       8.5       log odds to the likeliest number below which a number needs an open end to be considered
    _ILLEGAL, _NOTED 5.3, 1.6  play against the rules: people make mistakes; noted ones are common
    WRONG_SEAT       5.7       play of another seat than the one to move: nearly a missed pass, which is likelier
    ALREADY_USED     7.6       copy that does not exist: a misreading rather than a foul
    NOT_IN_SET       9.2       the same, and no set has it
    _WRONG_SIDES     1 of 20   hands from another player's side, before any is counted: people reach across
touching.py
    _GAP, _SLIP, _SKEW_RAD     standard deviations of a joined tile: 0.2 and 0.3 sides, 12 degrees
    _ELBOW_COST 0.3, _FOLD_COST 1.5, _INLINE_DOUBLE_COST 1.0: rare shapes of a layout
steps.py: what is not explained
    _LEFT_OUT        12        new piece: nobody puts a foreign tile on the table
    _STILL_LEFT, _STILL_GONE 1.5, 4: earlier piece, played tile that is still gone, each time that another is laid
    _UNEXPLAINED     5         sound (by its confidence) or press: both may be false; _UNEXPLAINED_CALL 7 for a call
    _OUT_SHOWS       8         tiles shown by a player who is out or has fewer, or by nearly all during play
    _NOT_SHOWN       2         open tiles that are not counted: some may still be hidden
    _MISCOUNTED      3         tile more or less in the boneyard, or in a shown hand: draws are often missed
    _SPURIOUS        4         tile of the boneyard that does not exist: rarer than an overlooked one
    _STILL_MISCOUNTED 0.7, _FOUND 0.5: overlooked again at the next look; detected again
    _TAKEN           3         piece that was laid and taken away, or played and gone, among at most _MAX_TAKEN (3)
    _CONTRADICTED    8         answer about the totals: players err, too; twice that about the turn
steps.py: actions
    _PASS, _UNPRESSED 2.5, 3   silent pass; button or sound that is missing, less all but _LATE (0.7) if it comes later
    _HEARD_PASS      1         pass with a sound: more than _SLAMMED, so a single sound before a tile is that tile's
    _SLAMMED, _QUIET 0.7, 0.4  tile with and without a sound: both are common; _LATER_SOUND 1.5 per sound after it
    _SEEN_EARLIER    4         tile played before another that was visible _EARLIER_NS (0.2 s) earlier
    _DRAW, _NO_HAND  1, 2      draw; draw without a hand over the table
    _UNCALLED        4         call without its press: the points are lost otherwise, as the rules say
    _DELIBERATE      1         "Hand is over" against the rules: whoever presses it may know better
    _LAPSED          1.5       call after the next tile: its press is late more often than the call
    _HEARD_CALL 0.2, _UNHEARD_CALL 1.6: call, and points not called, while the machine was off
    _SHOWN_END, _UNSEEN_END 1, 6: hand ended by its open tiles; ended unseen before the next deal
    _UNSEEN_DEAL     4         deal that only a press shows
decoder.py and course.py: search
    _BEAM, _WAYS     24, 3     courses kept; ways to play a piece in each
    _NEGLIGIBLE      9         a course this much worse than the best is dropped
    _TROUBLE         2.5       cost of a look after which another past is tried, up to _MAX_WORSE (14), _ROUNDS (3)
    _MAX_REPEATED   1000      actions played again at one look: it bounds the time
    SURPRISING       4.7       cost of a look, beyond one for each action, from which its hand is provisional
    _CONTRADICTS     1         log odds of a new reading against a played tile after which it is played again
    _SWEPT, _DETECTED 0.8, 0.5 share of the layout that is gone when a table is swept; of a boneyard that is laid out
    _LATE_NS         8 s       a press belongs to an action this long before it
    _IN_REACH 3.5 sides, _MIN_WAY 14, _READINGS 8, _MIN_SHARE 0.001: farther and rarer joints and readings are left
    _FROZEN_AFTER    4         tiles of the next hand after which a hand is final
    MANY_PIECES      6         pieces of a look above which fewer courses are followed, and the hand is doubtful
questions.py
    CERTAIN, SURE    98, 90 %  share of the totals without a mark; without a question
    _TRUST           0.5       factor of all weights after a look with over three tiles: most orders were not followed
"""
