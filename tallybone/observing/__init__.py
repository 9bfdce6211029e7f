"""What a table counts while it is on, for those who look after many: how often, how long, how much."""
