"""The proofs of Appendices A and B, executed: each step a function that a test can turn red."""
