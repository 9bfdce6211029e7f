"""Text forms of a game: records of whole matches, and positions."""
