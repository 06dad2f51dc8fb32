"""The ledger: claims, expectations of their measures, verdicts, and the pages that show them."""
