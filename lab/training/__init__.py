"""Train the shipped models on rendered pictures and modelled sounds."""
