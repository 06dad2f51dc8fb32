"""Related work: rival measures of emergence, compared at equal statistical power.

The paper's two architectures in each other's weights (§3, §8), and Reddy's three parameters.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from emergence import models
from emergence.analysis import attentions, head_weights
from emergence.models import AttentionOnlyTransformer, Weights
from emergence.tasks import Batch


@torch.no_grad()
def as_disentangled(model: AttentionOnlyTransformer) -> Weights:
    """Weights of Eq. 1 whose network gives the logits of a transformer of §2 at the query.

    The residual stream is a linear image of the concatenated one, so each matrix that reads it can
    read that instead. The disentangled network gets the sums of the two embeddings as its inputs,
    of width D, so that its own dimension is D/2.
    """
    (q1, q2), (k1, k2) = model.W_Q, model.W_K
    (v1, v2), (o1, o2) = model.W_V, model.W_O
    eye = torch.eye(len(q1), dtype=q1.dtype, device=q1.device)
    after_one = torch.cat([eye, o1 @ v1], dim=1)  # the stream from [X | what head 1 retrieved]
    after_two = torch.cat([after_one, o2 @ v2 @ after_one], dim=1)
    return Weights(
        model.score_scale * q1.T @ k1,
        model.score_scale * after_one.T @ q2.T @ k2 @ after_one,
        (model.W_U @ after_two).T,
    )


@torch.no_grad()
def as_transformer(
    weights: Weights, tokens: Float[Tensor, "width n"], positions: Float[Tensor, "width m"]
) -> AttentionOnlyTransformer:
    """A transformer of §2 that gives the output of a network of Eq. 1.

    Its stream is four times as wide as the inputs, for the first head writes what it retrieves into
    a slot of its own and so does the second: addition to zero is concatenation. `tokens` and
    `positions` have in their columns what each token and each position adds to an input.
    """
    w1, w2, w3 = weights
    width = len(w1)
    model = AttentionOnlyTransformer(
        4 * width, tokens.shape[1], positions.shape[1],
        embedding_scale=0.0, scaled=False,
        generator=torch.Generator(device=w1.device).manual_seed(0),
    ).to(w1.dtype)  # fmt: skip
    for parameter in model.parameters():
        parameter.zero_()
    model.W_E[:width], model.W_pos[:width] = tokens, positions
    for i, scores in enumerate((w1, w2)):
        n = len(scores)
        eye = torch.eye(n, dtype=w1.dtype, device=w1.device)
        model.W_Q[i][:n, :n], model.W_K[i][:n, :n] = scores.T, eye
        model.W_V[i][:n, :n], model.W_O[i][n : 2 * n, :n] = eye, eye
    model.W_U = torch.nn.Parameter(w3.T.clone())
    return model


def direct_model(
    beta_1: float, alpha: float, xi: float, n_pairs: int, query: int
) -> tuple[Float[Tensor, "length length"], Float[Tensor, " length"], Float[Tensor, " length"]]:
    """Attention of both layers and the answer, with scores set directly as Reddy does (§8).

    A position sees those before it. Layer 1 gives the score beta_1 to the position before a label
    and 0 to others, layer 2 gives the query's score alpha to a position for the share of its
    attention that layer 1 paid to the item asked for, and the answer is xi times the attention that
    a symbol gets. Our reading, on the sequences of this book: item, label, ..., query, which asks
    for pair `query`, counted from 0. Of layer 2 there is the query's row, of the answer its
    component along the symbol of each position.
    """
    length = 2 * n_pairs + 1
    allowed = models.allowed_positions(length, "strict", torch.device("cpu"))
    scores = torch.zeros(length, length, dtype=torch.float64)
    labels = torch.arange(1, length, 2)
    scores[labels, labels - 1] = beta_1
    layer1 = models.attention(scores, allowed)
    match = alpha * layer1[:, 2 * query]
    layer2 = models.attention(match[None].expand(length, -1), allowed)[-1]
    return layer1, layer2, xi * layer2


def reddy_gap(batch: Batch, head: tuple[float, float, float], square: float) -> float:
    """How far the network of Eq. 1 with alpha_3, beta_2, gamma_3 alone is from `direct_model`.

    `head` is what the three parameters do to a vector of norm 1, Reddy's beta_1, alpha and xi. They
    are divided by `square`, the (mean) squared norm of an item, label or position. What is returned
    is the largest difference in any attention of layer 1, of the query in layer 2, and of the
    answer along any symbol of the context.
    """
    n_pairs, dim = batch.inputs.shape[1] // 2, batch.inputs.shape[2] // 2
    weights = head_weights(torch.tensor(head, dtype=torch.float64) / square, dim)
    x = batch.inputs.double()
    first, second = attentions(weights, x)
    answers = (x[:, :-1, :dim] @ models.disentangled_output(weights, x)[..., None]).squeeze(-1)
    gaps = [0.0]
    for i, query in enumerate(batch.query.tolist()):
        layer1, layer2, answer = direct_model(*head, n_pairs, query)
        differences = (first[i] - layer1, second[i, -1] - layer2, answers[i] - answer[:-1])
        gaps += [float(part.abs().max()) for part in differences]
    return max(gaps)
