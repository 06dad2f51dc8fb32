"""The clock of a text: what it counts, its law, and its command."""

import math
from pathlib import Path

import numpy as np
import pytest

from emergence import clock
from emergence.clock import _counts


def drawn(size: int, vocabulary: int = 7, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, vocabulary, size=size)


def counted_one_by_one(window: np.ndarray, table: np.ndarray) -> list[float]:
    """Signals and squared noises of a window, written from the page with plain loops."""
    size = len(window) - 1
    rows = []
    for t in range(1, size + 1):
        now, answer = window[t - 1], window[t]
        places = range(1, t + 1)
        error = {j: float(window[j - 1] == answer) - table[now, window[j - 1]] for j in places}
        mean = sum(error.values()) / t
        share = {j: sum(window[k] == now for k in range(j)) / j for j in places}
        match = {j: float(j > 1 and window[j - 2] == now) for j in places}
        held = {a: sum(window[j - 1] == a for j in places) / t for a in set(window[:t].tolist())}
        rows.append(
            [
                mean,
                sum(match[j] * (error[j] - mean) for j in places) / t,
                sum((match[j] - share[j]) / j * (error[j] - mean) for j in places) / t,
                sum(h**2 for h in held.values())
                * float(((np.eye(7)[answer] - table[now]) ** 2).sum()),
                1 / t,
                sum(1 / j for j in places) / t**2,
                float(any(window[j - 2] == now for j in places if j > 1)),
            ]
        )  # fmt: skip
    return np.mean(rows, axis=0).tolist()


def test_a_window_is_counted_as_the_page_writes_it() -> None:
    text = drawn(400)
    table = _counts.successors(text[:200], text[200:], 7)
    window = text[:24]
    result = _counts._window(window, table)
    assert result[:7] == pytest.approx(counted_one_by_one(window, table), abs=1e-6)


def test_the_signal_of_the_match_is_the_gradient_of_the_loss() -> None:
    """Of softmax(log p + gamma sum_j A_j x_j), by gamma and by beta: finite differences."""
    text = drawn(300)
    table = _counts.successors(text, text, 7).astype(float)
    window = text[:16]
    size = len(window) - 1

    def loss(beta: float, gamma: float) -> float:
        total = 0.0
        for t in range(1, size + 1):
            now, answer = window[t - 1], window[t]
            match = np.array([float(j > 0 and window[j - 1] == now) for j in range(t)])
            weights = np.exp(beta * match)
            copied = np.bincount(window[:t], weights=weights / weights.sum(), minlength=7)
            logits = np.log(table[now]) + gamma * copied
            total += np.log(np.exp(logits).sum()) - logits[answer]
        return total / size

    small = 1e-4
    output = -(loss(0, small) - loss(0, -small)) / (2 * small)
    both = [loss(b, g) for b in (small, -small) for g in (small, -small)]
    match = -(both[0] - both[1] - both[2] + both[3]) / (4 * small**2)
    result = _counts._window(window, table)
    assert result[0] == pytest.approx(output, abs=1e-6)
    assert result[1] == pytest.approx(match, abs=1e-5)


def test_a_text_without_repetition_beyond_chance_hardly_pulls() -> None:
    flat = clock.pulls(drawn(40_000), 32)
    copied = clock.pulls(np.tile(drawn(32, 3000), 2000).astype(np.int64), 64)
    assert abs(flat.match[0]) < 1e-3
    assert copied.frequency > 0.4
    assert copied.reliability > 0.9


def test_what_a_table_of_successors_foretells_is_no_pull() -> None:
    """A text in which each token has one successor repeats every bigram and pulls on no head."""
    cycle = np.tile(np.arange(9), 500)
    result = clock.pulls(cycle, 32)
    assert result.reliability == pytest.approx(1)
    assert result.expected > 0.99
    assert max(abs(result.output[0]), abs(result.match[0])) < 0.01


def test_signals_of_two_halves_agree() -> None:
    """The table is never of the windows that it is held against: noise is no pull."""
    result = clock.pulls(drawn(3000, 500), 16)
    assert result.match[0] < 0.01


@pytest.mark.parametrize("factor", [2, 4, 9])
def test_steps_fall_with_the_root_of_the_batch(factor: int) -> None:
    result = clock.Pulls(8, 9, (0.1, 1.0), (0.2, 1.0), (0.3, 1.0), 0.5, 0.5, 0.1, 0.2)
    few, many = (clock.steps_to_head(result, b) for b in (4, 4 * factor))
    assert few / many == pytest.approx(math.sqrt(factor))
    assert clock.steps_to_head(result, 4, learning_rate=6e-3) == pytest.approx(few / 2)


def test_output_counts_twice() -> None:
    weak = clock.Pulls(8, 9, (0.1, 1.0), (0.1, 1.0), (0.1, 1.0), 0.5, 0.5, 0.1, 0.2)
    times = [
        clock.steps_to_head(weak._replace(**{name: (1.6, 1.0)}), 4)
        for name in ("output", "match", "previous")
    ]
    whole = clock.steps_to_head(weak, 4)
    assert [whole / t for t in times] == pytest.approx([4, 2, 2])


def test_a_pull_the_wrong_way_is_never() -> None:
    result = clock.Pulls(8, 9, (-0.1, 1.0), (0.1, 1.0), (0.1, 1.0), 0.5, 0.5, 0.1, 0.2)
    assert math.isinf(clock.steps_to_head(result, 4))


@pytest.mark.parametrize(
    ("tokens", "context", "message"),
    [
        (drawn(100), 16, "needs a text of at least 256 tokens, got 100"),
        (drawn(100), 2, "too small"),
        (drawn(100) - 1, 4, "from 0 to 8191"),
        (drawn(100) + 8192, 4, "from 0 to 8191"),
    ],
)
def test_what_cannot_be_counted_is_told(tokens, context: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clock.pulls(tokens, context)


def test_numbers_out_of_range_are_told() -> None:
    result = clock.Pulls(8, 9, (0.1, 1.0), (0.1, 1.0), (0.1, 1.0), 0.5, 0.5, 0.1, 0.2)
    with pytest.raises(ValueError, match="at least one token"):
        clock.strength(result, 0)
    with pytest.raises(ValueError, match="no training"):
        clock.steps_to_head(result, 4, learning_rate=0.0)
    with pytest.raises(ValueError, match="words or bytes"):
        clock.in_tokens("a", "letters")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        (b" \n", "is empty"),
        (b"\xff\xfe\x00", "is no text in UTF-8"),
        (b"a\0b", "is binary"),
        (b"too short a text", "needs a text of"),
    ],
)
def test_the_command_tells_what_is_wrong_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, message: str
) -> None:
    path = tmp_path / "corpus.txt"
    if content is not None:
        path.write_bytes(content)
    assert clock.command([str(path)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert output.err.count("\n") == 1


def test_the_command_says_when(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names that come twice in a row, each time other ones, teach a head."""
    words = drawn(12_000, 900)
    text = " ".join(f"w{a} x{b} w{a} x{b}" for a, b in words.reshape(-1, 2))
    path = tmp_path / "corpus.txt"
    path.write_text(text, encoding="utf-8")
    assert clock.command([str(path), "--context", "32"]) == 0
    assert "induction head after about" in capsys.readouterr().out
    path.write_text(" ".join(f"w{a}" for a in drawn(20_000, 50)), encoding="utf-8")
    assert clock.command([str(path), "--unit", "bytes", "--context", "32"]) == 0
    assert "tokens" in capsys.readouterr().out
