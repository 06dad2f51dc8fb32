"""The executed proof of Theorem 1, in double precision and tiny: finite sums, not samples."""
