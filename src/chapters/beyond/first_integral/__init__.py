"""The first integral, for any loss, and the order of emergence that follows from it."""
