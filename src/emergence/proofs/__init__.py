"""Parts of executed proofs that several chapters share; a test can turn each step red."""
