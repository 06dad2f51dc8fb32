"""Other roundings: the same programs on the same processor, with other last bits."""

import os
import subprocess
import sys
from collections.abc import Mapping

from bookbuild.errors import BookError

# The environment variables of each rounding. PyTorch's own reductions use vectors of half the
# length. MKL's products use the instructions of that name on Intel's processors; on all others they
# use the oldest ones, which have no fused multiply-add.
ROUNDINGS: dict[str, dict[str, str]] = {
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "AVX2"},
    "compatible": {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "COMPATIBLE"},
}
KINDS = ("products", "elementwise functions")
PROBE = """
import torch
x = torch.linspace(-3, 3, 90_000).reshape(300, 300)
print((x @ x.T).double().flatten().tolist())
print(x.softmax(-1).double().flatten().tolist())
"""


def check(name: str) -> None:
    """Raise BookError where a rounding would change no bit on this machine, and test nothing."""
    lines = zip(KINDS, _probed({}), _probed(ROUNDINGS[name]), strict=True)
    same = [kind for kind, usual, other in lines if usual == other]
    if same:
        raise BookError(
            f"On this machine ROUNDING={name} changes no bit of {' or '.join(same)}: choose "
            "another."
        )


def _probed(more: Mapping[str, str]) -> list[str]:
    """Return what the probe prints, a line a kind, with more variables in its environment."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE],
        env=os.environ | more,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()
