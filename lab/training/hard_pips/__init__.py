"""Train the hard-case classifier on the halves that the pip classifier finds difficult."""
