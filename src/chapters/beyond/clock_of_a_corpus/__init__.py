"""The clock of a corpus: texts, a language model, its trainings and what is counted before them."""
