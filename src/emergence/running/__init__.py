"""How computations run: devices, progress, cache, training loop, executors, sweeps, records."""
