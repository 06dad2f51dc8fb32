"""The film of a head: its frames are those of the network, and a page carries them whole."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from chapters.paper.induction_heads import film
from chapters.paper.induction_heads.products import Products, attended, logits

SHORT = replace(film.SETTINGS, dim=32, batch_size=8, steps=6)


@pytest.fixture(scope="module")
def short():
    return film.film_of(0, SHORT)


def test_shares_and_answer_are_those_of_the_described_network(short):
    batch = film.context()
    assert "".join(film.LETTERS[token] for token in batch.tokens[0]) == "KXBQTMREB"
    assert film.LETTERS[batch.target] == "Q"
    assert short.steps.tolist() == [0, 2, 4, 6]
    for frame in range(len(short.steps)):
        matrices = Products(short.layer1[frame], short.layer2[frame], short.output[frame])
        expected = attended(matrices, batch, SHORT.mask)
        assert short.previous[frame] == pytest.approx(expected.previous)
        assert short.label[frame] == pytest.approx(expected.label)
        answers = torch.softmax(logits(matrices, batch, SHORT.mask)[0], dim=0)
        assert short.answer[frame] == pytest.approx(float(answers[batch.target]))
    assert np.allclose(short.first.sum(axis=2), 1)
    assert np.allclose(short.second.sum(axis=2), 1)


def test_a_page_carries_every_frame_to_a_digit(short):
    page = film.film_text(short)
    for name, result in page["maps"].items():
        frames = getattr(short, name)
        digits = np.array([film.DIGITS.index(digit) for digit in result["frames"]])
        values = (digits.reshape(frames.shape) - film.TOP) / film.TOP * result["scale"]
        assert frames.shape[1:] == (result["rows"], result["columns"])
        shown = np.clip(frames, -result["scale"], result["scale"])
        assert np.abs(values - shown).max() <= result["scale"] / film.TOP
    assert len(page["loss"]) == SHORT.steps
