"""The proofs of the chapters beyond the paper, and rigorous enclosures of times."""
