"""What follows from the paper and is not in it: settings, experiments and executed proofs."""
