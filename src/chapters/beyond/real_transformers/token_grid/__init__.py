"""A grid of trainings of the transformer of §2, stored in data/token_grid.json."""
