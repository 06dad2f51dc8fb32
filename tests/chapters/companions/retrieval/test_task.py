"""Contexts against a dictionary that follows the chain; hops; errors."""

import torch

from chapters.companions.retrieval import model


def contexts(n_hops=4, n_chains=3, size=300, vocabulary=32, hops=None, seed=0):
    stream = torch.Generator().manual_seed(seed)
    if hops is None:
        hops = torch.randint(1, n_hops + 1, (size, n_chains), generator=stream)
    return model.draw_contexts(hops, n_hops, vocabulary, stream)


def test_following_the_facts_gives_the_target_after_so_many_hops():
    batch = contexts()
    for row in range(len(batch.query)):
        facts = dict(zip(batch.keys[row].tolist(), batch.values[row].tolist(), strict=True))
        assert len(facts) == 12
        assert len(facts.keys() | set(facts.values())) == 15
        for chain in range(3):
            symbol, count = int(batch.query[row, chain]), 0
            while symbol in facts:
                symbol, count = facts[symbol], count + 1
            assert symbol == int(batch.target[row, chain])
            assert count == int(batch.hops[row, chain])
        assert len(set(batch.target[row].tolist())) == 3


def test_places_list_each_chain_from_its_end():
    batch = contexts()
    values, keys = (
        of.gather(1, batch.places.flatten(1)).view(-1, 3, 4) for of in (batch.values, batch.keys)
    )
    assert torch.equal(values[..., 0], batch.target)
    assert torch.equal(values[..., 1:], keys[..., :-1])
    queries = keys.gather(2, batch.hops[..., None] - 1).squeeze(2)
    assert torch.equal(queries, batch.query)


def test_order_and_symbols_are_uniform():
    batch = contexts(size=6000)
    for counted in (torch.bincount(batch.places[:, 0, 0]), torch.bincount(batch.target[:, 2])):
        mean = 6000 / len(counted)
        assert len(counted) in (12, 32)
        assert float(((counted - mean) ** 2 / mean).sum()) < 3 * len(counted)


def test_hops_are_drawn_from_the_allowed_ones_alike():
    drawn = model.draw((2, 5), 1000, 4, generator=torch.Generator().manual_seed(0))
    assert drawn.shape == (1000, 4)
    assert set(drawn.flatten().tolist()) == {2, 5}
    assert abs(float((drawn == 5).double().mean()) - 0.5) < 0.04
