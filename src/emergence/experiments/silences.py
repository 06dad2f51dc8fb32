"""Settings that the paper does not give, and the candidates that this book tries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any


@dataclass(frozen=True)
class Silence:
    """A setting that the paper does not give, with the candidates that this book tries.

    Attributes:
        setting: the name of the field in the training's settings.
        why: why the paper leaves it open.
        candidates: usual choices, by the names that this book gives them.
        relative: whether a candidate is a factor of the value in the settings that are varied.
    """

    setting: str
    why: str
    candidates: Mapping[str, Any]
    relative: bool = False

    def choices(self, base: Any) -> dict[str, Any]:
        """The candidates as values, by name, for the settings `base` that are varied."""
        factor = getattr(base, self.setting) if self.relative else None
        return {
            name: value if factor is None else factor * value
            for name, value in self.candidates.items()
        }


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
# All three decide how large scores and gradients are at the start, so they are varied together.
# Left out are pairs of which one alone makes scores too large, as unscaled scores and embeddings of
# 0.2 and 1 do, and the other makes them larger still. Xavier's maps, N(0, 0.022^2) at D = 2048, are
# so near the normal ones that they are tried alone.
TRANSFORMER_PAIRS: tuple[tuple[Silence, Silence], ...] = (
    (
        replace(EMBEDDINGS, candidates={"embeddings 0.02": 0.02, "embeddings 0.1": 0.1}),
        replace(MAPS, candidates={"normal maps": "normal"}),
    ),
    (
        replace(EMBEDDINGS, candidates={"embeddings 0.02": 0.02}),
        replace(SCORES, candidates={"unscaled scores": False}),
    ),
)


# §§4 and 5, Apps. C and D: the minimal model. Data, sizes, batches, the learning rate and the query
# rule (uniform, §3.2) are printed.
LOSS = Silence(
    "learning_rate",
    "§3.2 prints a sum over dimensions, with which training diverges at the printed rate (§4.2 of "
    "the book). With the mean it does not, nor with half the mean, the other usual form.",
    {"mean loss": 1.0, "half the mean loss": 0.5},  # half a loss is half a rate
    relative=True,
)
ATTENTION = Silence(
    "mask",
    "§3 says causal, App. B.2 lets no position see itself and says that this is for the proofs.",
    {"strict mask": "strict", "causal mask": "causal"},
)
START = Silence(
    "initial_scale",
    "Assumption 1 has zero as an approximation of a small random start; App. C names none.",
    {"from zero": 0.0, "small random start": 0.01},
)
MINIMAL: tuple[Silence, ...] = (LOSS, ATTENTION, START)


def variations(
    base: Any, silences: Sequence[Silence], pairs: Sequence[tuple[Silence, Silence]] = ()
) -> dict[str, Any]:
    """Variations of settings in one setting that the paper does not give, or in two (App. E).

    Args:
        base: a dataclass.
        silences: those that are varied alone.
        pairs: pairs that are varied together.

    Returns:
        The settings by name, that is the base as `base`, then every other combination once.
    """
    names_of = {base: "base"}
    for group in (*((silence,) for silence in silences), *pairs):
        for chosen in product(*(silence.choices(base).items() for silence in group)):
            values = [(s.setting, *value) for s, value in zip(group, chosen, strict=True)]
            changes = {setting: value for setting, _, value in values}
            names = [name for setting, name, value in values if getattr(base, setting) != value]
            names_of.setdefault(replace(base, **changes), ", ".join(names))
    return {name: settings for settings, name in names_of.items()}


def title(base: Any, silences: Sequence[Silence]) -> str:
    """What the settings have where the paper leaves a choice, in the words of this book (App. C).

    Args:
        base: a dataclass.
        silences: what the paper leaves open; those with `relative` are left out.

    Returns:
        The names of the candidates, or the values where no candidate has them.
    """
    named = []
    for silence in (one for one in silences if not one.relative):
        value = getattr(base, silence.setting)
        found = (name for name, candidate in silence.candidates.items() if candidate == value)
        named.append(next(found, f"{silence.setting} = {value}"))
    return ", ".join(named)
