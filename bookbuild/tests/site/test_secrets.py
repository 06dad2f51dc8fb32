"""Secrets and local folders in what is to be published."""

from pathlib import Path

import pytest

from bookbuild.results.executed import Entry
from bookbuild.site.checks.pages import check_figures
from bookbuild.site.checks.private import private_parts

ROOT = (Path("/srv/book"),)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("see /srv/book/src/x.py", "names the local folder /srv/book/"),
        ("/tmp/x", "names the local folder /tmp/"),
        ("-----BEGIN RSA PRIVATE KEY-----", "holds a private key"),
        ("key AKIA" + "Q" * 16, "holds an access key of AWS"),
        ("ghp_" + "a1" * 18, "holds a token of GitHub"),
        ("pypi-" + "Ag" * 30, "holds a token of PyPI"),
        ("hf_" + "a" * 34, "holds a token of Hugging Face"),
        ("sk-proj-" + "a1" * 20, "holds an API key"),
        ("https://me:word@host/x", "holds a password in an address"),
        ("File /home/anna/x.py", "holds a home folder"),
        ("File /Users/anna/x.py", "holds a home folder"),
        (r"File C:\Users\anna\x.py", "holds a home folder of Windows"),
        (r"File C:\\Users\\anna\\x.py", "holds a home folder of Windows"),
        ("it is opensesame!", "holds the value of the environment variable BOOK_TOKEN"),
    ],
)
def test_what_is_private_is_found(monkeypatch: pytest.MonkeyPatch, text: str, part: str) -> None:
    monkeypatch.setenv("BOOK_TOKEN", "opensesame!")
    monkeypatch.setenv("TMPDIR", "/tmp")
    found = list(private_parts(text, ROOT))
    assert part in found
    assert not any("opensesame" in sentence for sentence in found)


@pytest.mark.parametrize(
    "text",
    [
        "tokens at positions 1 to 8, sk-learn, a mask-based head, https://arxiv.org/abs/2511.01033",
        "src/emergence/training.py, _build/paper/site, 12:30@noon, akia, hf_hub",
        "",
    ],
)
def test_what_is_public_is_left_alone(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("USE_TOKENS", "1")
    assert list(private_parts(text, ROOT)) == []


def test_figures_and_their_data_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry({"figures/a.json": b'{"path": "/srv/book/x"}', "notebook.ipynb": b"{}"}, {})
    assert list(check_figures({"paper/01": entry}, ROOT)) == [
        "paper/01: the figure a.json names the local folder /srv/book/."
    ]
