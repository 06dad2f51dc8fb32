"""Published results: fetching them, and computing some or all of them again."""
