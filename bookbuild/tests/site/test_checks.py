"""Each fault that Sphinx does not see is found, and each private part; what is sound passes."""

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookbuild.results.executed import ExecutedChapter
from bookbuild.site.checks import check_labels, check_notebooks, check_site, private_parts

PAGE = """<html><head><link rel="stylesheet" href="book.css"></head><body><article>
<a id="here" href="https://arxiv.org/abs/2511.01033">paper</a> <a href="#here">up</a>
<a href="other.html#there">other</a> <a href="folder/">folder</a>
<img src="plot.svg" alt="The loss falls to a half at once."> </article><img src="plot.svg">
<script>fetch("local.json")</script></body></html>"""


def site(folder: Path, page: str) -> Path:
    """Write a site with one page into a folder, and files of the same names beside that folder."""
    for name in ("other.html", "plot.svg"):
        (folder / name).write_text('<p id="there"></p>', encoding="utf-8")
    folder /= "site"
    (folder / "folder").mkdir(parents=True)
    for name in ("other.html", "folder/index.html"):
        (folder / name).write_text('<p id="there"></p>', encoding="utf-8")
    (folder / "plot.svg").write_text("<svg/>", encoding="utf-8")
    (folder / "book.css").write_text("p { color: red }", encoding="utf-8")
    (folder / "page.html").write_text(page, encoding="utf-8")
    return folder


def test_a_sound_page_passes(tmp_path: Path) -> None:
    assert check_site(site(tmp_path, PAGE)) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('href="book.css"', 'href="https://cdn.org/book.css"', "request https://cdn.org/book.css"),
        ("<script>", '<script src="http://cdn.org/x.js">', "request http://cdn.org/x.js"),
        ("</head>", "<style>p{background:url(https://a.org/b.png)}</style></head>", "a.org/b.png"),
        ('src="plot.svg" alt', 'src="lost.svg" alt', "lost.svg leads nowhere"),
        ('alt="The loss falls to a half at once."', "", "no alt text"),
        ("The loss falls to a half at once.", "_images/a_long_file_name.svg", "no alt text"),
        ('"other.html#there"', '"lost.html"', "lost.html leads nowhere"),
        ('"other.html#there"', '"other.html#gone"', "anchor that does not exist"),
        ('"#here"', '"#gone"', "anchor that does not exist"),
        ('"other.html#there"', '"../other.html#there"', "out of the folder of the site"),
        ('"other.html#there"', '"/other.html#there"', "out of the folder of the site"),
        ('src="plot.svg" alt', 'src="../plot.svg" alt', "out of the folder of the site"),
    ],
)
def test_a_fault_is_found(tmp_path: Path, old: str, new: str, fault: str) -> None:
    assert old in PAGE
    faults = check_site(site(tmp_path, PAGE.replace(old, new, 1)))
    assert len(faults) == 1
    assert faults[0].startswith("page.html: ")
    assert fault in faults[0]


PRIVATE = new_output("stream", text="see /srv/book/src/x.py")


@pytest.mark.parametrize(
    ("outputs", "faults"),
    [([], []), ([PRIVATE], ["an output of code cell 2 names the local folder /srv/book/."])],
)
def test_faults_of_a_notebook_are_found(
    tmp_path: Path, outputs: list[NotebookNode], faults: list[str]
) -> None:
    cells = [new_code_cell("1"), new_code_cell("2", outputs=outputs)]
    nbformat.write(new_notebook(cells=cells), tmp_path / "page.ipynb")
    result = list(check_notebooks(tmp_path, [Path("/srv/book")]))
    assert result == [f"page: {fault}" for fault in faults]


ROOT = (Path("/srv/book"),)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("see /srv/book/src/x.py", "names the local folder /srv/book/"),
        ("/tmp/x", "names the local folder /tmp/"),
        ("-----BEGIN RSA PRIVATE KEY-----", "holds a private key"),
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
    result = list(private_parts(text, ROOT))
    assert part in result
    assert not any("opensesame" in sentence for sentence in result)


def test_a_misplaced_label_is_found() -> None:
    files = {"figures/a.json": b'{"faults": ["a.svg: the label \'x\' lies on a curve"]}',
             "figures/b.json": b'{"faults": []}'}  # fmt: skip
    entries = {"one": ExecutedChapter(files, {})}
    assert [*check_labels(entries)] == ["one: a.svg: the label 'x' lies on a curve."]
