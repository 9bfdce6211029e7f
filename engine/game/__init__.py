"""The effect of each action on a match, and whether it is legal."""
