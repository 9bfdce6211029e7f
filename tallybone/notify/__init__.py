"""Tell the world beyond the table, where its owner asks for it: a broker (MQTT), Home Assistant, web addresses."""
