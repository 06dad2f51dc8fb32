"""Why spare symbols stop two layers: trainings that change one thing each, and what they read."""
