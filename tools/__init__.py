"""Programs for maintainers: records, checks of a GPU, benchmarks."""
