"""Published files: what cannot be trusted is not fetched, and a site is held against one's own."""

import hashlib
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.published import fetch
from bookbuild.published.pages import differences

CONTENT = b"results"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
WRONG = "0" * 64
PAGE = """<html><body><p>The slope is {slope}.</p><img src="{image}">
<details class="provenance"><dl><dd>commit {commit}</dd></dl></details>
<p class="made-by">commit {commit}</p></body></html>"""
DATA = '{{"figure": "a", "settings": {{"seconds": {seconds}}}, "data": {{"x": [0, {x}]}}}}'
OURS = {"slope": 2, "image": "a.svg", "commit": "abc", "seconds": 1.0, "x": 1}


class Handler(SimpleHTTPRequestHandler):
    """A quiet server, which leads elsewhere from one of its addresses."""

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path != "/moved":
            return super().do_GET()
        self.send_response(302)
        self.send_header("location", "http://example.org/results.zip")
        self.end_headers()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of a folder on this machine."""
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "results.zip").write_bytes(CONTENT)
    handler = partial(Handler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_what_has_its_digest_is_fetched_once(served: str, tmp_path: Path) -> None:
    output: list[str] = []
    for _ in range(2):
        source = f"{served}/results.zip#sha256={DIGEST}"
        assert fetch.locate(source, tmp_path / "kept", output.append).read_bytes() == CONTENT
    assert output == [f"fetching {served}/results.zip"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            f"/results.zip#sha256={WRONG}",
            f"cannot be fetched: its SHA-256 is {DIGEST}, not {WRONG}",
        ),
        (f"/nowhere.zip#sha256={DIGEST}", "cannot be fetched: 404 Client Error"),
        ("/results.zip", "append #sha256="),
        ("/results.zip#sha256=1", "append #sha256= and the 64 hexadecimal digits"),
        (f"http://example.org/results.zip#sha256={DIGEST}", "the address must begin with https"),
        (f"/moved#sha256={DIGEST}", "the address must begin with https"),
    ],
)
def test_a_download_that_is_not_the_one_is_not_kept(
    served: str, tmp_path: Path, source: str, reason: str
) -> None:
    address = source if source.startswith("http") else f"{served}{source}"
    with pytest.raises(BookError, match=reason):
        fetch.locate(address, tmp_path / "kept", str)
    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]


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


TEXT = "the text of index.html differs:"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, []),
        ({"commit": "def", "seconds": 9.0}, []),
        ({"slope": 3}, [f"{TEXT} '3. img a.svg' as published, '2. img a.svg' here"]),
        ({"image": "b.svg"}, [f"{TEXT} 'img b.svg' as published, 'img a.svg' here"]),
        (
            {"x": 1.5},
            ["figures/a.json, data x: 1.5 as published, 1 here", "figures/a.svg differs"],
        ),
    ],
)
def test_every_page_of_a_site_that_differs_is_named(
    tmp_path: Path, changes: dict[str, object], said: list[str]
) -> None:
    theirs = packed(site(tmp_path / "theirs", **changes))
    lines = differences(theirs, site(tmp_path / "built"))
    assert sorted(lines) == [f"theirs.zip: {line}." for line in said]


def test_pages_that_only_one_site_has_are_named(tmp_path: Path) -> None:
    theirs, built = site(tmp_path / "theirs"), site(tmp_path / "built")
    (theirs / "more\x1b.html").write_text("")
    (built / "new.html").write_text("")
    assert differences(packed(theirs), built) == [
        r"theirs.zip: only the published site has 'more\x1b.html'.",
        "theirs.zip: only the site built here has new.html.",
    ]
