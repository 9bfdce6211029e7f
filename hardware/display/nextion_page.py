"""Components of the Nextion page of docs/reference/nextion.md, and their lengths in characters."""

PLAYERS = 4
NAME_CHARACTERS, POINTS_CHARACTERS, MESSAGE_CHARACTERS = 12, 5, 60
FIELDS = (*(f"{kind}{seat}" for seat in range(PLAYERS) for kind in "npt"), "msg")
"""Names of the text components: name, points and turn mark of each seat, then the message."""
