"""The proof of Theorem 2: the reduced loss derived, its inequalities with constants."""
