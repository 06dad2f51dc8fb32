"""Natural texts with enough tokens for a head: what is predicted of them, and their trainings."""
