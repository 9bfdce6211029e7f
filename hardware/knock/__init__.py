"""Who knocks on the table: a pure detector of knuckle knocks in sound, and the sensors that hear them."""
