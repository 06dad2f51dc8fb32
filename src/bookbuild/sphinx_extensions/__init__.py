"""Extensions of Sphinx: theme, launch buttons, folded proofs, the reference of the code."""
