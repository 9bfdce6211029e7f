"""What looks at the table: cameras of a Raspberry Pi, of USB, none, and a strict fake."""
