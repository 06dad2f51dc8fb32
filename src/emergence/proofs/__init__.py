"""The proofs, executed: of Appendices A and B and beyond, each step one that a test can break."""
