"""Sources of pictures and inputs: cameras, videos, folders, recordings, and simulated tables."""
