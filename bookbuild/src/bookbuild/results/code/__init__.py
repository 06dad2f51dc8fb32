"""What code depends on: the definitions that it reaches by name."""
