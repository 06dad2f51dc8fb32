"""How computations run: devices, progress, cache, loop of descent, executors, sweeps, records."""
