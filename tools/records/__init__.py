"""Records in data/: other first seeds, other rounding, a cold build, and how they stay current."""
