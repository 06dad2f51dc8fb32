"""What a chapter's kernel imports: reports of numbers and figures, provenance, progress."""
