"""Extensions of Sphinx: theme, launch buttons, folded proofs."""
