"""Sphinx extensions: theme, launch buttons, folded proofs, the reference, pages left as they are."""
