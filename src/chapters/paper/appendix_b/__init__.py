"""The executed proof of Theorem 2: printed formulas derived, and estimates proved with numbers."""
