"""Evidence for verdicts: variations of chapters, ends of stored runs, and what the history says."""
