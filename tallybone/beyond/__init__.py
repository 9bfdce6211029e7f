"""What a table tells the world beyond it, where its owner asks for that: a broker (MQTT), and web addresses."""
