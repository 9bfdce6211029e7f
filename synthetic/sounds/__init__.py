"""Sound models: knocks, tiles, voices and rooms, as a microphone records them."""
