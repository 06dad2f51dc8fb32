"""A head being born: steps of a small training of §2, for the film of Explore."""

from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int

from emergence.tasks import TokenBatch
from emergence.training import TokenTraining, train_tokens

from .products import Pictures, Products, described

# The network of §2 in small: seconds on a processor, and matrices that a screen can show. It waits
# much longer than its loss then falls; under AdamW only two or three times as long.
SETTINGS = TokenTraining(
    dim=32,
    vocabulary=12,
    block_size=16,
    n_pairs=4,
    batch_size=256,
    steps=360,
    learning_rate=1.0,
    optimiser="sgd",
    embedding_scale=0.2,
)
SHARES = ("previous", "label", "answer")
EVERY = 6  # updates between two frames
LETTERS = "KXBQTMREACDF"  # of the tokens, in their order
CONTEXT = "KXBQTMREB"  # as in the story: the answer is Q
PLACE = 4  # of the context in the block
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
TOP = 31  # DIGITS that stand above that of zero, and as many below
SATURATED = 0.998  # of all entries are within the scale, as in Figure 2


class Film(NamedTuple):
    """Frames of a training: the three matrices of Figure 2, and what one context makes of them.

    `previous`, `label` and `answer` are shares from 0 to 1: of the attention of labels to the item
    before them in layer 1, of the query's to the label asked for in layer 2, and of the answer.
    """

    steps: Int[np.ndarray, " frames"]
    loss: Float[np.ndarray, " updates"]
    layer1: Float[np.ndarray, "frames n n"]
    layer2: Float[np.ndarray, "frames 2*n 2*n"]
    output: Float[np.ndarray, "frames vocabulary 4*n"]
    first: Float[np.ndarray, "frames length length"]
    second: Float[np.ndarray, "frames length length"]
    previous: Float[np.ndarray, " frames"]
    label: Float[np.ndarray, " frames"]
    answer: Float[np.ndarray, " frames"]


def film_of(seed: int, settings: TokenTraining = SETTINGS) -> Film:
    """Train from a seed, and look every few updates at the matrices and at the context."""
    device = torch.device("cpu")
    record = train_tokens(settings, seed, device=device, read=Pictures(EVERY), label="film of §2")
    pictures = [Products(*map(np.asarray, parts)) for parts in record.readings.values()]
    batch = context()
    seen = zip(*(described(picture, batch, settings.mask) for picture in pictures), strict=True)
    first, second, scores = (torch.cat(parts) for parts in seen)
    answers = scores.softmax(dim=-1)
    labels = np.arange(1, len(CONTEXT) - 1, 2)
    asked = CONTEXT.index(CONTEXT[-1]) + 1
    return Film(
        steps=np.array(list(record.readings)),
        loss=record.loss.numpy(),
        **{name: np.stack([getattr(one, name) for one in pictures]) for name in Products._fields},
        first=first.numpy(),
        second=second.numpy(),
        previous=first.numpy()[:, labels, labels - 1].mean(axis=1),
        label=second[:, -1, asked].numpy(),
        answer=answers[:, LETTERS.index(CONTEXT[asked])].numpy(),
    )


def context() -> TokenBatch:
    """The context of the story as the model reads it."""
    tokens = torch.tensor([[LETTERS.index(letter) for letter in CONTEXT]])
    asked = CONTEXT.index(CONTEXT[-1]) + 1
    return TokenBatch(tokens, PLACE + torch.arange(len(CONTEXT))[None], tokens[:, asked])


def film_text(found: Film) -> dict[str, Any]:
    """A film as a page carries it: a digit for each entry of a map, all frames in one text.

    The digit of zero is in the middle of DIGITS; a map says what the last one stands for.
    """
    scales = {
        name: float(np.quantile(np.abs(getattr(found, name)), SATURATED))
        for name in Products._fields
    }
    return {
        "context": CONTEXT,
        "steps": found.steps.tolist(),
        "loss": np.round(found.loss, 4).tolist(),
        **{key: np.round(getattr(found, key), 3).tolist() for key in SHARES},
        "maps": {
            name: _map(getattr(found, name), scale)
            for name, scale in (scales | {"first": 1.0, "second": 1.0}).items()
        },
    }


def _map(frames: Float[np.ndarray, "frames rows columns"], scale: float) -> dict[str, Any]:
    levels = np.clip(np.rint(frames / scale * TOP), -TOP, TOP).astype(int) + TOP
    _, rows, columns = frames.shape
    text = "".join(DIGITS[level] for level in levels.flat)
    return {"rows": rows, "columns": columns, "scale": round(scale, 3), "frames": text}
