"""A release: what describes the book to archives and committees, and the files it consists of."""
