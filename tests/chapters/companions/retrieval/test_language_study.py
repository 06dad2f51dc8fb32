"""The stored answers: their form, a sample recomputed where the model is, and silenced heads."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from chapters.companions.retrieval import language, language_study
from chapters.companions.retrieval.language_study import Condition

RECORD = Path(__file__).parents[4] / "data" / "companions" / "language.json"


def stored():
    return language_study.read(RECORD.read_text(encoding="utf-8"))


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
