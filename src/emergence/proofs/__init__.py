"""The proofs of Appendices A and B and beyond, executed: each step one that a test can turn red."""
