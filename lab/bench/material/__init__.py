"""Tables, sounds and matches that benchmarks judge, and how they are judged."""
