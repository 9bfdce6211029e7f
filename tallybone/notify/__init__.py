"""Report the game beyond the table, where its owner asks for it: to a broker (MQTT), Home Assistant, web addresses."""
