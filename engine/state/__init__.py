"""The state of a match as frozen values: events, layout, hands, scores and outcomes."""
