"""Publish the game outside the table if configured: MQTT, Home Assistant and webhooks."""
