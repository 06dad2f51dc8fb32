"""Other roundings: the same programs on the same processor, with other last bits."""

import os
import subprocess
import sys
from collections.abc import Mapping

PROBE = """
import torch
x = torch.linspace(-3, 3, 90_000).reshape(300, 300)
print((x @ x.T).double().flatten().tolist())
print(x.softmax(-1).double().flatten().tolist())
"""


def changes(environment: Mapping[str, str]) -> bool:
    """Return whether variables of a process change bits of products and elementwise functions."""
    usual, other = _probed({}), _probed(environment)
    return all(one != two for one, two in zip(usual, other, strict=True))


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
