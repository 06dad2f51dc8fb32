"""Scores of the prompts by any causal language model of `transformers`, an optional extra.

A prompt is answered by the candidate that makes the whole text likeliest, so nothing depends on
where a tokeniser draws the line between prompt and candidate. `transformers` is imported here only.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .prompts import Prompt

Encode = Callable[[str], list[int]]


class LanguageModel(NamedTuple):
    """A causal model, called with `input_ids`, and the encoder that belongs to it."""

    model: nn.Module
    encode: Encode


def load(directory: str | Path) -> LanguageModel:
    """A model and its tokeniser from a directory of this machine; nothing is downloaded.

    Raises ImportError without `transformers`, FileNotFoundError without the directory.
    """
    if not Path(directory).is_dir():
        raise FileNotFoundError(f"there is no model directory {str(directory)!r}")
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise ImportError(
            "scoring a language model needs transformers: pip install 'emergence[language]'"
        ) from error
    model = AutoModelForCausalLM.from_pretrained(directory, local_files_only=True)
    tokeniser = AutoTokenizer.from_pretrained(directory, local_files_only=True)
    return LanguageModel(model.eval(), tokeniser.encode)


@torch.no_grad()
def log_likelihood(language: LanguageModel, text: str) -> float:
    """The log-probability of a text's tokens, each given those before it."""
    device = next(language.model.parameters()).device
    tokens = torch.tensor(language.encode(text), device=device)
    logits: Tensor = language.model(input_ids=tokens[None]).logits[0, :-1]
    given = logits.float().log_softmax(dim=-1)
    return float(given.gather(-1, tokens[1:, None]).sum())


def scores(language: LanguageModel, prompt: Prompt) -> Float[Tensor, " candidates"]:
    """The log-probability of the prompt with each of its candidates."""
    texts = (prompt.text + candidate for candidate in prompt.candidates)
    return torch.tensor([log_likelihood(language, text) for text in texts])


def accuracy(language: LanguageModel, prompts: Sequence[Prompt]) -> float:
    """The share of prompts whose right candidate scores highest; ValueError without prompts."""
    if not prompts:
        raise ValueError("an accuracy needs at least one prompt")
    right = [int(scores(language, prompt).argmax()) == prompt.answer for prompt in prompts]
    return sum(right) / len(right)
