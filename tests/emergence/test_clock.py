"""The clock of a text: what it counts, its law, and its command."""

import json
import math
import os
import subprocess
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from asserts import refused
from emergence import clock
from emergence.clock import _counts, _limits, _text
from emergence.command import _clock, main
from tools.this_book import ROOT

TEACHING = " ".join(
    f"w{a} x{b} w{a} x{b}"
    for a, b in np.random.default_rng(0).integers(0, 900, size=(6000, 2)).tolist()
)


PULLS = clock.Pulls(8, 9, (0.1, 0.7), (0.2, 1.5), (0.3, 2.0), 0.5, 0.5, 0.1, 0.2)


def drawn(size, vocabulary=7, seed=0):
    return np.random.default_rng(seed).integers(0, vocabulary, size=size)


def corpus(folder, text=TEACHING, encoding="utf-8"):
    (folder / "corpus.txt").write_text(text, encoding=encoding)
    return str(folder / "corpus.txt")


def in_tokens(text, unit="words"):
    return _text._ranked(_text._split(unit)([text]))


def counted_one_by_one(window, table):
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


def test_a_window_is_counted_as_the_page_writes_it():
    text = drawn(400)
    table = _counts.successors(text[:200], text[200:], 7)
    window = text[:24]
    result = _counts._window(window, table)
    assert result[:7] == pytest.approx(counted_one_by_one(window, table), abs=1e-6)


def test_the_signal_of_the_match_is_the_gradient_of_the_loss():
    """Of softmax(log p + gamma sum_j A_j x_j), by gamma and by beta: finite differences."""
    text = drawn(300)
    table = _counts.successors(text, text, 7).astype(float)
    window = text[:16]
    size = len(window) - 1

    def loss(beta, gamma):
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


def test_texts_that_repeat_by_chance_or_by_bigrams_hardly_pull():
    flat = clock.pulls(drawn(40_000), 32)
    copied = clock.pulls(np.tile(drawn(32, 3000), 2000).astype(np.int64), 64)
    assert abs(flat.match[0]) < 1e-3
    assert copied.frequency > 0.4
    assert copied.reliability > 0.9
    # A text in which each token has one successor repeats every bigram and pulls on no head.
    cycle = np.tile(np.arange(9), 500)
    result = clock.pulls(cycle, 32)
    assert result.reliability == pytest.approx(1)
    assert result.expected > 0.99
    assert max(abs(result.output[0]), abs(result.match[0])) < 0.01


def test_the_law_is_that_of_the_page_and_its_limits_are_told():
    """The output counts twice, and noise falls with the root of the tokens of a step."""
    root = math.sqrt(5 * 8)
    output, match, previous = (root * s / n for s, n in (PULLS.output, PULLS.match, PULLS.previous))
    expected = 3 / 0.006 / (output * output * match * previous) ** 0.25
    assert clock.steps_to_head(PULLS, 5, learning_rate=0.006) == pytest.approx(expected)
    assert math.isinf(clock.steps_to_head(PULLS._replace(output=(-0.1, 1.0)), 5))
    said = _limits.limits(PULLS._replace(context=4096), 8, 3e-3, answer="no", rare=0.2, cut=True)
    whole = " ".join(said)
    assert all(part in whole for part in ("4096 tokens", "20% of the", "Only the first"))
    assert "learning rate" not in whole


def test_what_is_out_of_range_is_told():
    refused(ValueError, "needs a text of at least 256 tokens, got 100", clock.pulls, drawn(100), 16)
    refused(ValueError, "too small", clock.pulls, drawn(100), 2)
    refused(ValueError, "from 0 to 8191", clock.pulls, drawn(100) - 1, 4)
    refused(ValueError, "from 0 to 8191", clock.pulls, drawn(100) + 8192, 4)
    refused(ValueError, "at least one token", clock.published_tokens, 0)
    refused(ValueError, "no training", clock.steps_to_head, PULLS, 4, learning_rate=0.0)
    refused(ValueError, "words or bytes", in_tokens, "a", "letters")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no file"),
        (b" \n", "is empty"),
        (b"", "is empty"),
        (b"\xe4\xf6\xfc" * 900, "is no text in UTF-8"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "is no text in UTF-8"),
        (b"a\0b", "is binary"),
        (("wide " * 900).encode("utf-16-le"), "UTF-16 without a byte order mark"),
        (b"too short a text", "needs a text of"),
        (b"a" * 9_000_000, "a single token"),
        (" ".join(f"w{n}" for n in range(40_000)).encode(), "are too rare to be told apart"),
    ],
)
def test_the_command_tells_what_is_wrong_in_one_sentence(tmp_path, capsys, content, message):
    path = tmp_path / "corpus.txt"
    if content is not None:
        path.write_bytes(content)
    assert main(["clock", str(path)]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
    assert output.err.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--context", "0"), "is not in the range"),
        (("--context", "-3"), "is not in the range"),
        (("--context", "2049"), "is not in the range"),
        (("--batch", "0"), "is not in the range"),
        (("--batch", "9" * 400), "is not in the range"),
        (("--rate", "inf"), "is not in the range"),
        (("--rate", "nan"), "is no number"),
        (("--tokenizer", "nowhere.json"), "does not exist"),
    ],
)
def test_options_are_checked_before_anything_is_read(monkeypatch, capsys, option, told):
    """The text is a pipe from which nobody may read."""
    monkeypatch.setattr(_clock, "_readable", None)
    assert main(["clock", "-", *option]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_the_command_says_when(tmp_path, monkeypatch, capsys):
    """Names that come twice in a row, each time other ones, teach a head."""
    with open(corpus(tmp_path, encoding="utf-16"), encoding="latin-1") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["clock", "-", "--context", "32"]) == 0
    sentences = capsys.readouterr().out
    assert "induction head after about" in sentences
    assert "natural texts, a head formed in" in sentences
    assert "On made-up texts a head formed in" in sentences


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    """What the command says of bytes, in numbers."""
    path = corpus(tmp_path_factory.mktemp("text"))
    result = CliRunner().invoke(_clock.clock, [path, "--context=32", "--json", "--unit=bytes"])
    return json.loads(result.stdout)


def test_the_command_says_numbers(answer):
    assert answer["said"] == "yes"
    assert answer["tokens_read"] == len(TEACHING)
    assert answer["tokens"] == answer["steps"] * 8 * 32
    assert answer["trainings"] == clock.RATES
    assert list(answer["steps_in_other_units"]) == ["words"]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_chance_is_taken_for_no_head(tmp_path, capsys, seed):
    """In words that are drawn alone some pulls are positive, but not by the same in both halves."""
    path = corpus(tmp_path, "".join(f"{a} " for a in drawn(30_000, 10, seed)))
    assert main(["clock", path, "--context", "32"]) == 0
    sentences = capsys.readouterr().out
    assert "should not form one" in sentences or "do not decide" in sentences
    assert "a lower estimate" not in sentences
    if seed == 0:
        assert main(["clock", path, "--context", "32", "--json"]) == 0
        said = json.loads(capsys.readouterr().out)["said"]
        assert (said == "undecided") == ("do not decide" in sentences)


def same_names(symbols, numbers):
    """Whether each symbol has one number wherever it stands."""
    names = {}
    return all(names.setdefault(s, n) == n for s, n in zip(symbols, numbers.tolist(), strict=True))


@pytest.mark.parametrize("unit", ["words", "bytes"])
def test_a_text_is_split_alike_however_it_is_read(tmp_path, monkeypatch, unit):
    """Words of scripts without spaces are signs, and a long word is cut, also between pieces."""
    text = "We 走了很远 far,  far!!\tà la\u2009carte " * 40 + "x" * 300 + " end\n" * 9
    whole = in_tokens(text, unit)
    monkeypatch.setattr(_text, "PIECE", 7)
    for encoding in ("utf-8", "utf-8-sig", "utf-16") if unit == "words" else ("utf-8",):
        path = corpus(tmp_path, text, encoding)
        assert clock.read_tokens(path, unit).tolist() == whole.tolist()
    if unit == "words":
        words = _text.WORD.findall(text)
        assert "".join(words) == text
        assert {" 走", "了", " far", "!!", "x" * 64}.issubset(words)
        assert same_names(words, whole)


def test_what_is_read_is_bounded(monkeypatch):
    """Of too many words the later ones count as rare, and of too many tokens they are left out."""
    monkeypatch.setattr(_text, "TOKENS", 5000)
    assert len(in_tokens("ab" * 4000, "bytes")) == 5000
    monkeypatch.setattr(_text, "DISTINCT", 3)
    assert (in_tokens("a b a c d e") == _text.RARE).sum() == 3


def test_the_memory_is_a_few_times_the_tokens(tmp_path):
    """One line of four million bytes; strings of all words would take twenty times as much."""
    path = tmp_path / "line.txt"
    path.write_bytes(b"a word and " * 360_000)
    tracemalloc.start()
    try:
        tokens = clock.read_tokens(path)
        clock.pulls(tokens, 64, windows=8)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(tokens) > 1_000_000
    assert peak < 96e6


@pytest.mark.parametrize("piece", [999, 2**17, 2**20])
def test_a_tokenizer_of_the_readers_own_cuts_the_text(tmp_path, monkeypatch, piece):
    """The library is not there in every environment: one with the same interface stands for it."""

    class Tokenizer(SimpleNamespace):
        @classmethod
        def from_file(cls, path):
            if not path.endswith("tokenizer.json"):
                raise Exception("no such file")
            return cls()

        def encode(self, text, *, add_special_tokens):
            assert not add_special_tokens
            return SimpleNamespace(ids=[70_000 + ord(sign) for sign in text])

    monkeypatch.setitem(sys.modules, "tokenizers", SimpleNamespace(Tokenizer=Tokenizer))
    monkeypatch.setattr(_text, "PIECE", piece)
    text = "ein Bär und noch einer " * 20_000 + "b" * 99_999
    path = corpus(tmp_path, text)
    tokens = clock.read_tokens(path, tokenizer="tokenizer.json")
    assert same_names(text, tokens)
    refused(ValueError, "is no file of the library", clock.read_tokens, path, tokenizer="other")
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    refused(ValueError, "pip install", clock.read_tokens, path, tokenizer="tokenizer.json")


def test_an_answer_comes_with_how_often_such_answers_were_right():
    said = {answer: " ".join(_limits._record(answer)) for answer in ("yes", "no", "undecided")}
    natural, no = clock.RATES["natural"], clock.RATES["no"]
    assert f"formed in {natural['formed']} of the book's {natural['number']}" in said["yes"]
    assert "no prediction for a natural text" in said["yes"]
    assert f"after all in {no['formed']} of the book's {no['number']}" in said["no"]
    assert said["undecided"] == ""


@pytest.mark.parametrize(
    ("steps", "other", "told"),
    [
        (100.0, None, "no head instead of 100 steps: units disagree"),
        (100.0, 301.0, "301 steps instead of 100 steps: units disagree"),
        (None, 301.0, "301 steps instead of no head: units disagree"),
        (100.0, 299.0, None),
        (None, None, None),
    ],
)
def test_units_that_disagree_are_told(answer, steps, other, told):
    said = answer | {"steps": steps, "steps_in_other_units": {"words": other}, "said": "no"}
    sentences = [s for s in _clock.in_sentences(said) if "units disagree" in s]
    assert sentences == ([f"Counted in words, the same text gives {told}."] if told else [])


def test_a_text_may_come_through_a_pipe_and_a_reader_may_leave(tmp_path):
    words = "emergence clock {} --context 32 --json 2>> err"
    expected = shell(words.format(corpus(tmp_path)), tmp_path)
    ways = "cat corpus.txt | " + words.format("/dev/stdin"), words.format("<(cat corpus.txt)")
    assert [shell(way, tmp_path) == expected for way in ways] == [True, True]
    assert shell(words.format("corpus.txt") + " | true", tmp_path) == ""
    assert "Error" not in (tmp_path / "err").read_text(encoding="utf-8")


def shell(line, folder):
    """What a line of bash says."""
    command = line.replace("emergence ", f"{sys.executable} -m emergence ")
    where = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"}
    return subprocess.check_output(["bash", "-c", command], env=where, cwd=folder, text=True)


def test_a_window_is_counted_alike_in_blocks_and_at_once(monkeypatch):
    text = drawn(700, 30)
    table = _counts.successors(text[:200], text[200:], 30)
    at_once = _counts._window(text[:301], table)
    monkeypatch.setattr(_counts, "BLOCK", 2000)
    assert _counts._window(text[:301], table) == pytest.approx(at_once, rel=1e-9)
