"""The paper's sections and appendices: settings, experiments and executed proofs."""
