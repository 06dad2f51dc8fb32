"""Prompts for a language model: the retrieval problem in two forms of plain text.

`assignments` is the source's first form: variables, the last of which holds a number. `conditional`
is its second: people who live with one another, depending on what they are. Names, decoys and the
wording of longer chains are ours. Each prompt is to be continued by one of its candidates, the ends
of all chains.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from string import ascii_uppercase
from typing import Literal, NamedTuple, TypeVar, get_args

import torch

NAMES = (
    "Alice", "Harry", "Clara", "Oscar", "Emma", "Felix", "Grace", "Hugo", "Irene", "Jonas", "Karen",
    "Lewis", "Maria", "Nora", "Peter", "Quentin", "Rose", "Simon", "Tessa", "Victor", "Wendy",
)  # fmt: skip
PLACES = ("Wonderland", "Camelot", "Atlantis", "Avalon", "Lilliput", "Utopia", "Narnia")
# A class decides whom its members live with.
RULES = (("wizard", "mother"), ("sailor", "teacher"), ("baker", "brother"), ("painter", "cousin"))

Order = Literal["shuffled", "forward", "backward"]  # forward: what a fact needs stands before it
Item = TypeVar("Item")


class Prompt(NamedTuple):
    """Text to continue; `right` counts among the candidates."""

    text: str
    candidates: tuple[str, ...]
    right: int


def assignments(
    n_hops: int, n_chains: int, *, generator: torch.Generator, order: Order = "shuffled"
) -> Prompt:
    """`A=7`, `B=A`, ... for each chain, shuffled, then the last variable of one chain.

    Raises ValueError if there are too few letters or digits, or for an unknown order.
    """
    _enough("letters", n_chains * n_hops, len(ascii_uppercase))
    _enough("digits", n_chains, 10)
    letters = _chosen(ascii_uppercase, n_chains * n_hops, generator)
    ends = _chosen("0123456789", n_chains, generator)
    chains = [(end, *letters[i * n_hops :][:n_hops]) for i, end in enumerate(ends)]
    facts = [
        (hop, f"{letter}={previous}")
        for chain in chains
        for hop, (previous, letter) in enumerate(pairwise(chain))
    ]
    right = _below(n_chains, generator)
    text = "\n".join([*_ordered(facts, order, generator), f"{chains[right][-1]}="])
    return Prompt(text, tuple(ends), right)


def conditional(
    n_hops: int, n_chains: int, *, generator: torch.Generator, order: Order = "shuffled"
) -> Prompt:
    """Who lives where? The first of a chain lives in a place, the others with somebody.

    Everybody but the first has two relatives, one in another chain, and lives with the one whom a
    rule for their class names. A chain of D facts has D people. Raises ValueError if there are too
    few names or places, fewer than two chains, or an unknown order.
    """
    if n_chains < 2:
        raise ValueError("a decoy needs a second chain")
    _enough("names", n_chains * n_hops, len(NAMES))
    _enough("places", n_chains, len(PLACES))
    names = _chosen(NAMES, n_chains * n_hops, generator)
    people = [names[i * n_hops : (i + 1) * n_hops] for i in range(n_chains)]
    places = _chosen(PLACES, n_chains, generator)
    facts = [(0, f"{name.capitalize()}s live with their {kin}s.") for name, kin in RULES]
    for own, other, place in zip(people, people[1:] + people[:1], places, strict=True):
        facts.append((0, f"{own[0]} lives in {place}."))
        for hop, person in enumerate(own[1:], start=1):
            (kind, kin), (_, decoy) = _chosen(RULES, 2, generator)
            facts.append((hop, f"{person} is a {kind}."))
            facts.append((hop, f"{person}'s {kin} is {own[hop - 1]}."))
            facts.append((hop, f"{person}'s {decoy} is {other[hop - 1]}."))
    right = _below(n_chains, generator)
    question = f"Where does {people[right][-1]} live? {people[right][-1]} lives in"
    text = " ".join([*_ordered(facts, order, generator), question])
    return Prompt(text, tuple(f" {place}" for place in places), right)


def with_examples(prompt: Prompt, examples: Sequence[Prompt]) -> Prompt:
    """The prompt after solved examples, a blank line between each two."""
    solved = [example.text + example.candidates[example.right] for example in examples]
    return prompt._replace(text="\n\n".join([*solved, prompt.text]))


FORMS: dict[str, Callable[..., Prompt]] = {"assignments": assignments, "conditional": conditional}


def _enough(what: str, needed: int, available: int) -> None:
    if not 1 <= needed <= available:
        raise ValueError(f"a prompt needs 1 to {available} {what}, got {needed}")


def _below(count: int, generator: torch.Generator) -> int:
    return int(torch.randint(count, (), generator=generator))


def _chosen(options: Sequence[Item], count: int, generator: torch.Generator) -> list[Item]:
    order = torch.randperm(len(options), generator=generator)[:count].tolist()
    return [options[i] for i in order]


def _ordered(
    facts: Sequence[tuple[int, str]], order: Order, generator: torch.Generator
) -> list[str]:
    """Facts, each with its distance from the end of its chain, in an order; ties are shuffled."""
    if order not in get_args(Order):
        raise ValueError(f"order must be one of {get_args(Order)}, got {order!r}")
    mixed = _chosen(facts, len(facts), generator)
    if order != "shuffled":
        mixed.sort(key=lambda fact: fact[0], reverse=order == "backward")
    return [text for _, text in mixed]
