"""Evidence for verdicts: variations of chapters, ends of stored runs, dates of expectations."""
