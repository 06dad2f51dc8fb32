"""What the rules of the algebra do: each is missed where it should be, and nowhere else."""

import pytest

from chapters.paper.appendix_a import structure, words


@pytest.mark.parametrize("name", structure.BY_NAME)
def test_without_a_rule_the_named_identities_fail(name):
    assert structure.failing_without(name) == structure.EXPECTED[name]


def test_most_identities_need_no_rule():
    assert structure.failing({}) == frozenset().union(*structure.EXPECTED.values())
    assert len(structure.failing({})) == 7
    assert structure.failing(words.RULES) == set()


def test_the_rules_by_name_are_all_rules():
    together = {pair: word for part in structure.BY_NAME.values() for pair, word in part.items()}
    assert together == words.RULES


def test_a_slip_in_a_score_is_noticed(monkeypatch):
    """P with U_4 in the place of U_3 turns by E on one side and F on the other."""
    original = structure.block_weights

    def slipped():
        w1, w2, w3 = original()
        w2[0, 2], w2[0, 3] = w2[0, 3], w2[0, 2]
        return w1, w2, w3

    monkeypatch.setattr(structure, "block_weights", slipped)
    assert "P' = P" in structure.failing(words.RULES)
