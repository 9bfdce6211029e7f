"""Train the pip classifier with scikit-learn and measure it on held-out tables."""
