"""What the history of the repository tells of the book's records."""
