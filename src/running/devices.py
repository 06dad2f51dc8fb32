"""Where tensors live and how random numbers are drawn."""

import torch


def resolve_device(name: str) -> torch.device:
    """The device called `auto` (CUDA where there is one), `cpu` or `cuda`; ValueError otherwise."""
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device must be auto, cpu or cuda, got {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device cuda was asked for, but this machine has no CUDA device")
    has_cuda = torch.cuda.is_available()
    return torch.device("cuda" if name != "cpu" and has_cuda else "cpu")


def generator(seed: int, device: torch.device) -> torch.Generator:
    """A fresh random generator: the same seed and device give the same stream."""
    return torch.Generator(device).manual_seed(seed)
