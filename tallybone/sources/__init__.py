"""Open whatever gives pictures and presses: cameras, videos, folders, recordings, simulated tables."""
