"""Page with all tables of a club or tournament, from their MQTT messages."""
