"""Bad input ends in one sentence; the commands do what their help says."""

import pytest

from tools.toy_book import Command, Toy


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["build", "--profile", "papier"], "PROFILE must be one of paper, smoke, not 'papier'."),
        (["build", "--device", "tpu"], "DEVICE must be one of"),
        (["build", "--device", "cuda"], "finds no CUDA device"),
        (["build", "--seed", "abc"], "SEED must be a whole number of at least 0, not 'abc'."),
        (["build", "--seed", "٣"], "SEED must be a whole number"),
        (["build", "--jobs", "0"], "JOBS must be a whole number of at least 1"),
        (["build", "--part", "companions"], "PART must be one of paper, beyond, not 'companions'."),
        (["build", "--sed", "1"], "No such option"),
        (["chapter", "paper/99_lost"], "There is no chapter 'paper/99_lost'"),
        (["serve", "--profile", "smoke"], "There is no site yet"),
        (["rebuild"], "No such command"),
    ],
)
def test_bad_input_ends_in_one_sentence(
    toy: Toy, command: Command, monkeypatch: pytest.MonkeyPatch, arguments: list[str], reason: str
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    message = command(toy.root, *arguments)
    assert reason in message
    assert "\n" not in message
    assert "There is no _toc.yml here" in command(toy.root / "src", "build", "--device", "cpu")


def test_a_chapter_prints_its_measures_and_its_notebook(
    toy: Toy, command: Command, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(toy.root, "chapter", "paper/01_line", "--device", "cpu") == ""
    printed = capsys.readouterr().out
    assert "slope = [2.0, 2.0, 2.0]" in printed
    assert "executed notebook: _build/paper/chapters/paper/01_line.ipynb" in printed
    assert (toy.root / "_build/paper/chapters/paper/01_line.ipynb").is_file()


def test_a_part_is_built_alone(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    staged: list[str] = []
    monkeypatch.setattr(
        "bookbuild.pipeline.build_site", lambda settings, entries: staged.extend(entries)
    )
    result = toy.build(part="paper")
    assert staged == ["paper/01_line"]
    assert {finding.claim.chapter for finding in result.findings} == {"paper/01_line"}
    toc = (toy.settings().stage / "_toc.yml").read_text(encoding="utf-8")
    assert "book/beyond" not in toc
    assert "book/verdicts" in toc
