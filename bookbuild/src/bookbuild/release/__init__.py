"""A release: descriptions of the book for archives and committees, and the files of a release."""
