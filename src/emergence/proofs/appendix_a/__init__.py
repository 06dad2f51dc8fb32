"""The proof of Theorem 1: what rotations leave fixed, and what that makes of gradients."""
