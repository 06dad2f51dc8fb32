"""The ledger: claims, what is expected of their measures, verdicts, and the pages that tell."""
