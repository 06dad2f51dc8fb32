"""Extensions of Sphinx: theme, launch buttons, folded proofs, the reference, untouched pages."""
