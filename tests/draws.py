"""What tests of the science draw with."""

import torch

CPU = torch.device("cpu")


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


def normal(generator, *shape):
    """Standard normal numbers in double precision."""
    return torch.randn(*shape, generator=generator, dtype=torch.float64)
