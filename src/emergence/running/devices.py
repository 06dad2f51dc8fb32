"""Where tensors live and how random numbers are drawn."""

import torch


def resolve_device(name: str) -> torch.device:
    """The device by its name, as every chapter takes it.

    Args:
        name: `auto`, CUDA where there is one, `cpu` or `cuda`.

    Raises:
        ValueError: for another name, or where `cuda` is asked for and missing.
    """
    if name not in ("auto", "cpu", "cuda"):
        raise ValueError(f"device must be auto, cpu or cuda, got {name!r}")
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("device cuda was asked for, but this machine has no CUDA device")
    has_cuda = torch.cuda.is_available()
    return torch.device("cuda" if name != "cpu" and has_cuda else "cpu")


def generator(seed: int, device: torch.device) -> torch.Generator:
    """A fresh stream of random numbers in this book, the same for the same seed and device.

    Args:
        seed: >= 0.
        device: where the numbers are drawn.
    """
    return torch.Generator(device).manual_seed(seed)
