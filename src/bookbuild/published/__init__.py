"""Published results: fetched, a random sample of them computed again; or all from scratch."""
