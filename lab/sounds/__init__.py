"""Sound models of knocks, tiles, voices and rooms, as recorded by a microphone."""
