"""A loss at every position: flows, bounds, and stored trainings of both networks."""
