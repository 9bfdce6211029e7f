"""The page of a live game: its state and events for viewers, and what viewers ask of the game."""
