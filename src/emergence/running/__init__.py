"""How computations run: devices, progress, cache, the loop of descent, executors, sweeps."""
