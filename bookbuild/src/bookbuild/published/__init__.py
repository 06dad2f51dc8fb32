"""Published results: fetching them, and computing a sample or all of them again."""
