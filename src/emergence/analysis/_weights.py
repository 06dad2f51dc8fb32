"""The lead of the head over the other trained pseudo-parameters."""

import torch
from jaxtyping import Float
from torch import Tensor

from emergence.subspace import INDUCTION_HEAD, NAMES


def head_lead(pseudo: Float[Tensor, "*runs 19"]) -> Float[Tensor, "*runs"]:
    """The smallest size of alpha_3, beta_2, gamma_3 over the greatest of the other sixteen (§5).

    Args:
        pseudo: the 19 in the order of `subspace.NAMES`, of one network or of several runs.

    Returns:
        The ratio, above 1 where the head leads.

    Example:
        >>> values = torch.tensor([2.0 if name in subspace.INDUCTION_HEAD else 1.0
        ...                        for name in subspace.NAMES])
        >>> float(analysis.head_lead(values))
        2.0
    """
    head = torch.tensor([name in INDUCTION_HEAD for name in NAMES])
    return pseudo[..., head].abs().amin(dim=-1) / pseudo[..., ~head].abs().amax(dim=-1)
