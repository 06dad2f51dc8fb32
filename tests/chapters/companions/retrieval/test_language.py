"""Scores of a bigram model by hand, and of a tiny random model of transformers."""

import math
import sys
from itertools import pairwise
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from chapters.companions.retrieval import language, prompts
from chapters.companions.retrieval.prompts import Prompt

LETTERS = "ABCD=7 89\n"


class Bigram(nn.Module):
    """The next letter depends on the last one alone."""

    def __init__(self):
        super().__init__()
        drawn = torch.randn(len(LETTERS), len(LETTERS), generator=torch.Generator().manual_seed(0))
        self.table = nn.Parameter(drawn)

    def forward(self, input_ids):
        return SimpleNamespace(logits=self.table[input_ids])


def bigram():
    return language.LanguageModel(Bigram(), lambda text: [LETTERS.index(c) for c in text])


def by_hand(text):
    table = Bigram().table.detach().double().softmax(dim=1)
    pairs = pairwise(text)
    return sum(math.log(table[LETTERS.index(a), LETTERS.index(b)]) for a, b in pairs)


@pytest.mark.parametrize("texts", [("A=7", "A=8"), ("A=7\nB", "A=7\nC=7", "A=9"), ("7", "77")])
def test_log_likelihoods_as_by_hand(texts):
    """Up to what all begin with: its letters are the same, so a difference does not see them."""
    found = language.log_likelihoods(bigram(), texts)
    expected = torch.tensor([by_hand(text) for text in texts])
    torch.testing.assert_close(found - found[0], expected - expected[0], atol=1e-5, rtol=1e-5)


def test_the_likeliest_candidate_is_the_answer():
    prompt = Prompt("A=7\nB=A\nB=", ("7", "8", "9"), 0)
    expected = [by_hand(prompt.text + candidate) for candidate in prompt.candidates]
    best = expected.index(max(expected))
    right, wrong = prompt._replace(right=best), prompt._replace(right=(best + 1) % 3)
    assert language.accuracy(bigram(), [right, right, wrong, right]) == 0.75


def test_errors_say_what_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no model directory"):
        language.load(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"no file 'weights\.gguf'"):
        language.load(tmp_path, "weights.gguf")
    with pytest.raises(ValueError, match="at least one prompt"):
        language.accuracy(bigram(), [])


def test_without_transformers_the_error_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError, match="make env EXTRAS=language"):
        language.load(tmp_path)


@pytest.fixture
def model_directory(tmp_path):
    """A GPT-2 of a few hundred weights and a tokeniser of single letters, saved to a directory."""
    reason = "transformers, an optional extra, is not installed"
    transformers = pytest.importorskip("transformers", reason=reason)
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    letters = sorted(set("".join(chr(i) for i in range(32, 127))) | {"\n"})
    vocabulary = {"<unk>": 0} | {letter: i + 1 for i, letter in enumerate(letters)}
    tokeniser = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokeniser.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokeniser).save_pretrained(tmp_path)
    torch.manual_seed(0)  # transformers takes no generator
    config = transformers.GPT2Config(
        vocab_size=len(vocabulary), n_positions=2048, n_embd=8, n_layer=1, n_head=2,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path)
    return tmp_path


def test_any_causal_model_of_transformers_is_scored(model_directory):
    loaded = language.load(model_directory)
    for form in prompts.FORMS.values():
        made = [form(2, 3, generator=torch.Generator().manual_seed(seed)) for seed in range(12)]
        texts = [made[0].text, made[0].text[:-9], made[0].text[:1] + made[1].text]
        found, expected = language.log_likelihoods(loaded, texts), []
        for text in texts:
            tokens = torch.tensor([loaded.encode(text)])
            assert tokens.shape == (1, len(text))
            mean = loaded.model(input_ids=tokens, labels=tokens).loss  # of transformers' own
            expected.append(-float(mean.detach()) * (len(text) - 1))
        differences = torch.tensor(expected) - expected[0]
        torch.testing.assert_close(found - found[0], differences, rtol=1e-3, atol=1e-2)
        assert 0 <= language.accuracy(loaded, made) < 1  # random weights know nothing
