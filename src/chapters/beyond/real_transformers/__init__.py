"""The transformer of §2 and the full model of §4, one setting varied at a time."""
