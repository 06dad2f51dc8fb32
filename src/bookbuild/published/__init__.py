"""Published results: fetched, and a random sample of them computed again; everything from scratch."""
