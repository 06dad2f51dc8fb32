"""Parts of executed proofs that several chapters share; tests check that each step can fail."""
