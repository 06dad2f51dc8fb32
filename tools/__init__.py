"""Programs for maintainers: records, drills, benchmarks, and helpers that tests share."""
