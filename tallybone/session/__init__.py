"""Follow a sitting: a pure machine that takes what comes in, and returns what has to be shown."""
