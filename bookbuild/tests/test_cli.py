"""Bad input ends in one sentence; the commands do what their help says."""

import re

import pytest

from bookbuild import settings
from bookbuild.cli.options import read_changes
from bookbuild.errors import BookError
from bookbuild.ledger.claims import judge_chapter, read_claims
from toy_book import LINE, SQUARE


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["build", "--profile", "papier"], "'papier' is not one of 'paper', 'smoke'."),
        (["build", "--device", "tpu"], "'tpu' is not one of 'auto', 'cpu', 'cuda'."),
        (["build", "--device", "cuda"], "that finds a CUDA device"),
        (["build", "--seed", "abc"], "'--seed': 'abc' is not a valid integer"),
        (["build", "--jobs", "0"], "'--jobs': 0 is not in the range x>=1."),
        (["build", "--from", "x"], "'x' is not 'scratch'."),
        (["build", "--sed", "1"], "No such option"),
        (["chapter", LINE, "--set", "n"], "'--set': 'n' is not name=value; a value has no blanks."),
        (["chapter", LINE, "--set", "n=1 n=2"], "'--set': 'n' is set twice."),
        (["chapter", LINE, "--set", "n={a"], "'{a' is no number, truth value or text, and no list"),
        (["chapter", LINE, "--set", "n=.nan"], "'.nan' is no number"),
        (
            ["chapter", LINE, "--set", "n=1"],
            f"Chapter {LINE} takes no settings, and no other does.",
        ),
        (["chapter", "paper/99_lost"], "There is no chapter 'paper/99_lost'"),
        (["serve", "--profile", "smoke"], "There is no site yet"),
        (["rebuild"], "No such command"),
    ],
)
def test_bad_input_ends_in_one_sentence(toy, command, monkeypatch, arguments, reason):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    message = command(toy.root, *arguments)
    assert reason in message
    assert "\n" not in message
    assert "There is no _toc.yml here" in command(toy.root / "src", "build", "--device", "cpu")


@pytest.mark.parametrize(
    ("build", "found", "device"),
    [("2.13.0", True, "cuda"), ("2.13.0", False, "cpu"), ("2.13.0+cpu", True, "cpu")],
)
def test_auto_is_a_gpu_where_pytorch_is_built_for_one_and_finds_it(
    monkeypatch, build, found, device
):
    monkeypatch.setattr(settings, "version", lambda _: build)
    monkeypatch.setattr("torch.cuda.is_available", lambda: found)
    assert settings.resolve_device("auto") == device
    if device == "cpu":
        with pytest.raises(BookError, match="that finds a CUDA device"):
            settings.resolve_device("cuda")


def test_settings_are_read_as_numbers_truth_values_texts_and_lists():
    given = "n_pairs=20 learning_rate=1e-3 mask=causal noisy=true  sizes=[4,8] names=[a,b]"
    numbers = {"n_pairs": 20, "learning_rate": 0.001, "sizes": [4, 8]}
    texts = {"mask": "causal", "noisy": True, "names": ["a", "b"]}
    assert read_changes(given) == numbers | texts
    assert read_changes("") == {}


def table(output):
    """The rows of the tables in an output, without what is folded into a second line."""
    lines = (re.split(r"  +", line.strip()) for line in output.splitlines())
    return [cells for cells in lines if len(cells) > 1]


def test_a_chapter_ends_with_its_claims_and_checks(toy, command, capsys):
    toy.append(LINE, "from bookbuild import check\ncheck('the [first] slope', 2 / 3, at_least=1)")
    assert command(toy.root, "chapter", LINE, SQUARE, "--device", "cpu") == ""
    output = capsys.readouterr().out
    assert table(output) == [
        ["Claims of the paper, as printed", "Measured", "Expected", "Verdict"],
        ["line-slope", "2 (n = 3)", "1.99 to 2.01", "reproduced"],
        ["line-is-endless", "not testable here"],
        ["Checks of this page", "Measured", "Expected", "Outcome"],
        ["the [first] slope", "0.6667", "at least 1", "does not hold"],
        ["New results", "Measured", "Expected", "Verdict"],
        ["square-of-three", "9", "at most 8", "contradicted"],
    ]
    assert "The slope is a slope." in output
    assert "Nothing is judged" not in output
    assert not re.search(r"\d\.\d{5}", output)
    assert f"{LINE}: done in " in output  # where no terminal is, a line tells of a chapter


def test_other_settings_are_handed_over_and_nothing_is_judged(toy, command, capsys):
    page = f"book/{LINE}.md"
    toy.edit(page, "seed = 0\n", "seed = 0\nsettings = {}\n")
    toy.edit(page, "line.slopes(points)", "line.slopes(points)[: settings.get('n', 3)]")
    order = ["chapter", LINE, "--device", "cpu", "--set", "n=2 mask=causal"]
    assert command(toy.root, *order) == ""
    output = capsys.readouterr().out
    assert ["line-slope", "2 (n = 2)", "1.99 to 2.01", "not judged"] in table(output)
    why = "Nothing is judged, because these settings are not those of the page: n=2 mask=causal."
    assert why in output
    message = command(toy.root, "chapter", SQUARE, *order[2:])
    assert message == f"Chapter {SQUARE} takes no settings; the chapters that do are {LINE}."


def test_what_a_build_would_reject_is_told_below_the_table(toy):
    claims = read_claims(toy.root, [LINE, SQUARE])
    measures = toy.entry(LINE).measures
    more = measures | dict.fromkeys(("new", "quoted"), measures["slope"])
    findings, told = judge_chapter(claims, LINE, more, {"quoted"}, judged=True)
    assert [finding.verdict for finding in findings] == ["reproduced", "not testable here"]
    assert [line.partition(" has no claim")[0] for line in told] == [
        f"Measure 'new' of chapter {LINE}"
    ]
    findings, told = judge_chapter(claims, LINE, {}, set(), judged=True)
    assert [finding.claim.id for finding in findings] == ["line-is-endless"]
    assert told == [
        "data/claims.yml, row 'line-slope': measure 'slope' is not reported by any chapter."
    ]
