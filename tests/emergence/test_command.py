"""The command `emergence`, and the training from Python that the README shows."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from emergence.command import main
from emergence.running import cache
from emergence.running.files import FileCache
from emergence.training import MinimalTraining, TokenTraining, load, train_minimal
from tools.this_book import ROOT

SMALL = ("--n-pairs", "4", "--dim", "8", "--batch-size", "16", "--steps", "12")


def test_the_line_of_the_readme_trains_saves_and_plots(tmp_path: Path, capsys) -> None:
    run, figure = tmp_path / "run.pt", tmp_path / "run.svg"
    asked = ("--mask", "causal", "--learning-rate", "0.7", "--optimizer", "sgd",
             "--supervision", "every", "--seeds", "3")  # fmt: skip
    order = ["train", *SMALL, *asked, "--plot", str(figure), "--save", str(run)]
    assert main(order) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    saved = load(run)
    assert isinstance(saved.settings, MinimalTraining)
    assert (saved.settings.mask, saved.settings.learning_rate) == ("causal", 0.7)
    again = train_minimal(saved.settings, saved.seeds)
    assert torch.equal(saved.record.pseudo, again.pseudo)
    assert torch.equal(saved.record.snapshots[12].w2, again.snapshots[12].w2)
    assert "<svg" in figure.read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.pt", "run.svg"]
    figure.unlink()
    assert main(["plot", str(run)]) == 0
    assert figure.is_file()


def test_a_transformer_is_saved_with_its_network(tmp_path: Path) -> None:
    run = tmp_path / "tokens.pt"
    small = ("--dim", "16", "--batch-size", "8", "--steps", "3", "--seeds", "2")
    assert main(["train", "--tokens", *small, "--save", str(run)]) == 0
    saved = load(run)
    assert saved.settings == TokenTraining(dim=16, batch_size=8, steps=3)
    first, second = saved.record
    assert len(first.loss) == 3
    assert not torch.equal(first.model.W_E, second.model.W_E)
    assert main(["plot", str(run), "--output", str(tmp_path / "tokens.png")]) == 0


@pytest.mark.slow("processes that load PyTorch")
def test_a_killed_training_resumes_and_ends_with_the_same_bits(tmp_path: Path) -> None:
    long = (*SMALL[:-1], "3000", "--batch-size", "64")
    program = (
        "import sys; from emergence.running import files; files.INTERVAL = 0.0\n"
        "files.FileCache.__init__.__defaults__ = (0.0,)\n"
        "from emergence.command import main; sys.exit(main(sys.argv[1:]))"
    )

    def start(name: str) -> subprocess.Popen[bytes]:
        order = [sys.executable, "-c", program, "train", *long, "--save", str(tmp_path / name)]
        return subprocess.Popen(
            order, env=os.environ | {"PYTHONPATH": str(ROOT / "src"), "OMP_NUM_THREADS": "1"},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    killed, deadline = start("killed.pt"), time.monotonic() + 120
    while not [*tmp_path.glob("killed.pt.*.part")]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert not (tmp_path / "killed.pt").exists()
    (state,) = (torch.load(path) for path in tmp_path.glob("killed.pt.*.part"))
    assert 0 < state["step"] < 3000
    assert start("killed.pt").wait() == start("whole.pt").wait() == 0
    one, other = load(tmp_path / "killed.pt"), load(tmp_path / "whole.pt")
    assert torch.equal(one.record.pseudo, other.record.pseudo)
    assert torch.equal(one.record.loss, other.record.loss)
    assert not [*tmp_path.glob("*.part")]


def test_states_belong_to_the_settings(tmp_path: Path) -> None:
    settings = [MinimalTraining(n_pairs=n, dim=8, batch_size=8, steps=2) for n in (2, 3)]
    store = FileCache(tmp_path / "run.pt", 0.0)
    with cache.attached(store):
        for each in settings:
            train_minimal(each, [0])
    assert len({*store.used}) == len([*tmp_path.iterdir()]) == 2
    store.remove()
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--n-pairs", "0"), "'--n-pairs': 0 is not in the range x>=1"),
        (("--mask", "diagonal"), "'--mask': 'diagonal' is not one of 'strict', 'causal'"),
        (("--learning-rate", "-1"), "-1.0 is not in the range x>0"),
        (("--dim", "7"), "the dimension D must be even"),
        (("--batch-size", "0"), "0 is not in the range"),
        (("--steps", "many"), "'many' is not a valid integer"),
        (("--until-loss", "low"), "'low' is not a valid float"),
        (("--data", "images"), "'images' is not one of"),
        (("--data", "orthonormal", "--dim", "6"), "orthonormal pairs need D >= 2N"),
        (("--query", "first"), "'first' is not one of"),
        (("--supervision", "none"), "'none' is not one of"),
        (("--supervision", "every", "--copies", "2"), "neither copies nor windows"),
        (("--copies", "3"), "copies of the same"),
        (("--initial-scale", "-1"), "not in the range x>=0"),
        (("--record-every", "0"), "not in the range x>=1"),
        (("--optimizer", "adamw"), "is trained by sgd"),
        (("--vocabulary", "9"), "has no setting vocabulary"),
        (("--block-size", "9"), "has no setting block-size"),
        (("--tokens", "--query", "last"), "has no setting query"),
        (("--tokens", "--n-pairs", "100"), "need 200 distinct tokens"),
        (("--tokens", "--maps", "random"), "'random' is not one of"),
        (("--seeds", "0"), "not in the range x>=1"),
        (("--device", "abacus"), "'abacus' is not one of"),
        (("--save", "nowhere/run.pt"), "there is no folder nowhere"),
        (("--plot", "run.txt"), "run.txt should end with .svg"),
        (("--speed", "9"), "No such option"),
    ],
)
def test_a_wrong_option_is_told_in_one_sentence(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *SMALL, *words]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert told in output.err
    assert [line for line in output.err.splitlines() if line.endswith(".")] == [
        output.err.splitlines()[-1]
    ]
    assert "Traceback" not in output.err


def test_files_that_are_none_are_told(tmp_path: Path, capsys) -> None:
    assert main(["plot", str(tmp_path / "none.pt")]) == 2
    assert "No such file" in capsys.readouterr().err
    (tmp_path / "text.pt").write_text("text", encoding="utf-8")
    assert main(["plot", str(tmp_path / "text.pt")]) == 2
    assert "is no training that emergence has saved" in capsys.readouterr().err


@pytest.mark.parametrize("mask", ["strict", "causal"])
@pytest.mark.parametrize("supervision", ["query", "every"])
def test_times_are_predicted_without_a_training(mask: str, supervision: str, capsys) -> None:
    given = ("--n-pairs", "8", "--mask", mask, "--supervision", supervision)
    assert main(["predict", *given, "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert steps["gamma"] > 0
    assert 0 < steps["loss"] < 10_000
    # a causal mask with a loss at every position makes the head of eight pairs by another way
    assert (steps["alpha"] is None) == ((mask, supervision) == ("causal", "every"))
    assert main(["predict", *given]) == 0
    assert f"{steps['loss']:,}" in capsys.readouterr().out


def test_the_help_names_each_range(capsys) -> None:
    assert main(["train", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "--learning-rate FLOAT RANGE of gradient descent, > 0. [default: 1.0; x>0]" in text
    assert "[strict|causal]" in text


def test_the_lines_of_the_readme_run(tmp_path: Path, monkeypatch) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    lines = [line for line in code.splitlines() if line]
    assert len(lines) <= 12
    monkeypatch.chdir(tmp_path)
    small = code.replace("n_pairs=16, dim=32, batch_size=256, steps=800",
                         "n_pairs=4, dim=8, batch_size=16, steps=20")  # fmt: skip
    assert small != code
    exec(compile(small, "README.md", "exec"), {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.pt", "run.svg"]
