"""Eq. 1 with the three parameters of the induction head alone, without a matrix of weights."""

from jaxtyping import Float
from torch import Tensor

from emergence.models import Mask
from emergence.tasks import swap_halves

from ._disentangled import _pattern, _seen


def induction_head_output(
    pseudo: Float[Tensor, "*runs 3"],
    inputs: Float[Tensor, "*runs batch length width"],
    *,
    mask: Mask = "strict",
) -> Float[Tensor, "*runs batch dim"]:
    """The prediction of Eq. 1 where only alpha_3, beta_2 and gamma_3 are not zero (§6).

    Args:
        pseudo: alpha_3, beta_2 and gamma_3, of one network or of several runs.
        inputs, mask: as `models.disentangled_output` takes them.

    Returns:
        The prediction at the query item, differentiable once, with respect to the three.

    Raises:
        ValueError: if the inputs require a gradient or the mask is unknown.
    """
    # Positions alone steer layer 1, contents alone layer 2 and the output: no weight is formed.
    if inputs.requires_grad:
        raise ValueError(
            "the fast method has no gradient for inputs; use models.disentangled_output"
        )
    alpha, beta, gamma = pseudo[..., None, None, None, :].unbind(dim=-1)
    content, position = _seen(inputs, mask).chunk(2, dim=-1)
    places = position @ swap_halves(position).mT.contiguous()
    pattern = _pattern(alpha.detach() * places, mask)
    similarity = inputs[..., -1:, : content.shape[-1]] @ content.mT
    attended = similarity @ pattern.mT
    # The derivative by alpha is a covariance under T, so that autograd needs no square array.
    weighted = places * pattern
    slope = similarity @ weighted.mT - attended * weighted.sum(dim=-1)[..., None, :]
    attended = attended + slope * (alpha - alpha.detach())
    w = (beta * attended).softmax(dim=-1)  # the query sees all that is left
    return (gamma * (w @ content)).squeeze(-2)
