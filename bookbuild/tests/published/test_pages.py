"""A published site held against the one that was built."""

import zipfile
from pathlib import Path

import pytest

from bookbuild.published.pages import differences

PAGE = """<html><body><p>The slope is {slope}.</p><img src="{image}">
<details class="provenance"><dl><dd>commit {commit}</dd></dl></details>
<p class="made-by">commit {commit}</p></body></html>"""
DATA = '{{"figure": "a", "settings": {{"seconds": {seconds}}}, "data": {{"x": [0, {x}]}}}}'
OURS = {"slope": 2, "image": "a.svg", "commit": "abc", "seconds": 1.0, "x": 1}


def site(folder: Path, **changes: object) -> Path:
    """A site of a page and a figure."""
    values = OURS | changes
    (folder / "figures").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE.format(**values))
    (folder / "figures" / "a.json").write_text(DATA.format(**values))
    (folder / "figures" / "a.svg").write_text(f"<svg>{values['x']}</svg>")
    return folder


def packed(folder: Path) -> Path:
    """The zip file of a site, as a release has it."""
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as file:
        for one in filter(Path.is_file, folder.rglob("*")):
            file.write(one, f"site/{one.relative_to(folder).as_posix()}")
    return path


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, []),
        ({"commit": "def", "seconds": 9.0}, []),
        (
            {"slope": 3},
            ["the text of index.html differs: '3. img a.svg' as published, '2. img a.svg' here"],
        ),
        (
            {"image": "b.svg"},
            ["the text of index.html differs: 'img b.svg' as published, 'img a.svg' here"],
        ),
        (
            {"x": 1.5},
            ["figures/a.json, data x: 1.5 as published, 1 here", "figures/a.svg differs"],
        ),
    ],
)
def test_every_page_that_differs_is_named(
    tmp_path: Path, changes: dict[str, object], said: list[str]
) -> None:
    theirs = packed(site(tmp_path / "theirs", **changes))
    found = differences(theirs, site(tmp_path / "built"))
    assert sorted(found) == [f"theirs.zip: {line}." for line in said]


def test_pages_that_only_one_site_has_are_named(tmp_path: Path) -> None:
    theirs, built = site(tmp_path / "theirs"), site(tmp_path / "built")
    (theirs / "more\x1b.html").write_text("")
    (built / "new.html").write_text("")
    assert differences(packed(theirs), built) == [
        r"theirs.zip: only the published site has 'more\x1b.html'.",
        "theirs.zip: only the site built here has new.html.",
    ]
