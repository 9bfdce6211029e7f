"""Train the sound classifier. Modules that need torch: `fit`, `net`."""
