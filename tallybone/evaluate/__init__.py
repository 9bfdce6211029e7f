"""Judge photographs against labels, and recordings of simulated tables against their truth."""
