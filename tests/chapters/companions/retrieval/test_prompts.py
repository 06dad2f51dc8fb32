"""Prompts are read back and solved by rules written for each form."""

import re

import pytest
import torch

from chapters.companions.retrieval import prompts

SIZES = [(1, 2), (2, 3), (4, 3), (6, 2)]


def stream(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize(("n_hops", "n_chains"), SIZES)
def test_assignments_lead_to_the_answer(n_hops, n_chains):
    for seed in range(20):
        prompt = prompts.assignments(n_hops, n_chains, generator=stream(seed))
        *lines, question = prompt.text.split("\n")
        facts = dict(line.split("=") for line in lines)
        assert len(facts) == len(lines) == n_hops * n_chains
        symbol, count = question.removesuffix("="), 0
        while symbol in facts:
            symbol, count = facts[symbol], count + 1
        assert count == n_hops
        assert prompt.candidates[prompt.right] == symbol
        assert sorted(prompt.candidates) == sorted(set(re.findall(r"\d", prompt.text)))


@pytest.mark.parametrize(("n_hops", "n_chains"), SIZES)
def test_conditional_prompts_lead_to_the_answer(n_hops, n_chains):
    for seed in range(20):
        prompt = prompts.conditional(n_hops, n_chains, generator=stream(seed))
        text, question = prompt.text.split(" Where does ")
        kin = dict(re.findall(r"(\w+)s live with their (\w+)s\.", text))
        kin = {kind.lower(): relative for kind, relative in kin.items()}
        place = dict(re.findall(r"(\w+) lives in (\w+)\.", text))
        kind = dict(re.findall(r"(\w+) is a (\w+)\.", text))
        relatives = {(a, b): c for a, b, c in re.findall(r"(\w+)'s (\w+) is (\w+)\.", text)}
        person, count = question.split()[0], 1
        while person not in place:
            person, count = relatives[person, kin[kind[person]]], count + 1
        assert count == n_hops
        assert prompt.candidates[prompt.right] == f" {place[person]}"
        assert len(set(prompt.candidates)) == n_chains
        decoys = [relatives[p, k] for p, k in relatives if k != kin[kind[p]]]
        assert len(decoys) == n_chains * (n_hops - 1)


@pytest.mark.parametrize("form", sorted(prompts.FORMS))
def test_answers_are_spread_and_seeds_repeat(form):
    made = [prompts.FORMS[form](3, 3, generator=stream(seed)) for seed in range(60)]
    assert {prompt.right for prompt in made} == {0, 1, 2}
    assert made[7] == prompts.FORMS[form](3, 3, generator=stream(7))


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_orders_of_facts(order):
    lines = prompts.assignments(3, 3, generator=stream(), order=order).text.split("\n")[:-1]
    facts = dict(line.split("=") for line in lines)
    places = {line[0]: place for place, line in enumerate(lines)}
    steps = [places[a] - places[b] for a, b in facts.items() if b in places]
    assert len(steps) == 6
    assert all((step > 0) == (order == "forward") for step in steps)


def test_examples_are_solved():
    one, two = (prompts.assignments(1, 2, generator=stream(seed)) for seed in (1, 2))
    text = prompts.with_examples(one, [two]).text
    assert text == f"{two.text}{two.candidates[two.right]}\n\n{one.text}"


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: prompts.assignments(9, 3, generator=stream()), "letters"),
        (lambda: prompts.assignments(1, 11, generator=stream()), "digits"),
        (lambda: prompts.conditional(11, 2, generator=stream()), "names"),
        (lambda: prompts.conditional(1, 8, generator=stream()), "places"),
        (lambda: prompts.conditional(2, 1, generator=stream()), "second chain"),
        (lambda: prompts.assignments(2, 1, generator=stream(), order="sorted"), "order must be"),
    ],
)
def test_too_large_prompts_raise(call, message):
    with pytest.raises(ValueError, match=message):
        call()
