"""The task of hidden permutations: answers, and that runs do not see each other."""

import torch

from chapters.companions.k_hop import hidden


def test_answers_are_those_of_the_composition():
    stream = torch.Generator().manual_seed(0)
    secret = hidden.permutations((3, 4), stream)
    hops = torch.randint(1, 4, (6, 4), generator=stream)
    batch = hidden.drawn(secret, hops, stream)
    for context in range(6):
        given = batch.values[context].view(3, 4).tolist()
        for x in range(4):
            value = x
            for i in range(hops[context, x]):
                value = given[i][secret[i][value]]
            assert batch.target[context, x] == value
            assert batch.query[context, x] == 4 * (hops[context, x] - 1) + x
    assert (batch.keys == torch.arange(12)).all()
    assert (batch.values.view(6, 3, 4).sort(dim=-1).values == torch.arange(4)).all()
