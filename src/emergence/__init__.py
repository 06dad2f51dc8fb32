"""The shared library: tasks, models, theory, training and measures of induction heads."""
