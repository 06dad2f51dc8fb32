"""Extensions of Sphinx: theme, launch buttons, folds, the reference."""
