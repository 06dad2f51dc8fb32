"""The science of the book: tasks, models, theory and training of induction heads."""
