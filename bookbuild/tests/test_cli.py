"""Bad input ends in one sentence; the commands do what their help says."""

import pytest

from bookbuild import settings
from bookbuild.errors import BookError
from toy_book import Command, Toy


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["build", "--profile", "papier"], "'papier' is not one of 'paper', 'smoke'."),
        (["build", "--device", "tpu"], "'tpu' is not one of 'auto', 'cpu', 'cuda'."),
        (["build", "--device", "cuda"], "finds no CUDA device"),
        (["build", "--seed", "abc"], "'--seed': 'abc' is not a valid integer"),
        (["build", "--jobs", "0"], "'--jobs': 0 is not in the range x>=1."),
        (["build", "--from", "x"], "'x' is not 'scratch'."),
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


@pytest.mark.parametrize(
    ("build", "found", "device"),
    [("2.13.0", True, "cuda"), ("2.13.0", False, "cpu"), ("2.13.0+cpu", True, "cpu")],
)
def test_auto_is_a_gpu_where_pytorch_is_built_for_one_and_finds_it(
    monkeypatch: pytest.MonkeyPatch, build: str, found: bool, device: str
) -> None:
    monkeypatch.setattr(settings, "version", lambda _: build)
    monkeypatch.setattr("torch.cuda.is_available", lambda: found)
    assert settings.resolve_device("auto") == device
    if device == "cpu":
        with pytest.raises(BookError, match="finds no CUDA device"):
            settings.resolve_device("cuda")
