"""What the paper leaves open in its experiments, and the candidates that the book tries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any


@dataclass(frozen=True)
class Silence:
    """A setting that the paper does not give.

    Args:
        setting: the field of the training's settings.
        why: why it is open.
        candidates: values by what the book calls them, each a usual choice.
    """

    setting: str
    why: str
    candidates: Mapping[str, Any]


EMBEDDINGS = Silence(
    "embedding_scale",
    "App. E gives no initial values. GPT-2 has 0.02, PyTorch's nn.Embedding 1.",
    {f"embeddings {scale:g}": scale for scale in (0.02, 0.05, 0.1, 0.2, 1.0)},
)
MAPS = Silence(
    "maps",
    "App. E gives no initial values: PyTorch's nn.Linear, GPT-2's normal or Xavier's.",
    {"PyTorch maps": "default", "normal maps": "normal", "Xavier maps": "xavier"},
)
MASK = Silence(
    "mask",
    "App. E names no mask. It is causal as a rule, and strict in App. B.2.",
    {"causal mask": "causal", "strict mask": "strict"},
)
SCORES = Silence(
    "scaled",
    "The recipe of Vaswani et al. divides scores by the root of D, but Eq. 1 does not.",
    {"scaled scores": True, "unscaled scores": False},
)

TRANSFORMER: tuple[Silence, ...] = (EMBEDDINGS, MAPS, MASK, SCORES)
# Both decide how large scores and gradients are at the start, so they are varied together. Xavier's
# maps, N(0, 0.022^2) at D = 2048, are so near the normal ones that they are tried alone.
TRANSFORMER_PAIRS: tuple[tuple[Silence, Silence], ...] = (
    (EMBEDDINGS, replace(MAPS, candidates={"normal maps": "normal"})),
    (EMBEDDINGS, SCORES),
)


def variations(
    base: Any, silences: Sequence[Silence], pairs: Sequence[tuple[Silence, Silence]] = ()
) -> dict[str, Any]:
    """Settings that differ from a base in one silence, or in both of a pair, by name.

    Args:
        base: a dataclass of settings.
        silences: what is varied alone.
        pairs: what is varied together as well.

    Returns:
        The base under the name `base`, then every other combination once.
    """
    found = {base: "base"}
    for group in (*((silence,) for silence in silences), *pairs):
        for chosen in product(*(silence.candidates.items() for silence in group)):
            changes = {
                silence.setting: value for silence, (_, value) in zip(group, chosen, strict=True)
            }
            names = [
                name
                for silence, (name, value) in zip(group, chosen, strict=True)
                if getattr(base, silence.setting) != value
            ]
            found.setdefault(replace(base, **changes), ", ".join(names))
    return {name: settings for settings, name in found.items()}
