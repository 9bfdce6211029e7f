"""Train the network that extracts pip features from half tiles."""
