"""What a replay leaves behind as a file: a game record, a table of the plays, all of it as JSON, or a video."""
