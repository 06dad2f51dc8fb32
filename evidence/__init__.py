"""Evidence for stored results: each is computed again, as far as a test can afford it."""
