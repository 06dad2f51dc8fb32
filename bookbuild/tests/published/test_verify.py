"""Published results: what they are taken for, and what is found when they are altered."""

import hashlib
import json
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from bookbuild import pipeline as release
from bookbuild.costs import Cost
from bookbuild.errors import BookError
from bookbuild.published import verify
from bookbuild.published.verify import borrowing, summary
from bookbuild.results.archive import MANIFEST, open_archive, write_archive
from bookbuild.results.values import to_files
from bookbuild.source.chapters import read_chapters, read_toc
from toy_book import LINE, SQUARE

CONTENT = b"results"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
LENT = [[9.0, 9.0, 9.0], []]  # three slopes, and no state of random numbers
MEASURED = {"measures": {"slope": np.full(3, 9.0)}, "figures": {}}


def packed(toy, path, **settings):
    write_archive(path, read_chapters(toy.root, read_toc(toy.root)), toy.settings(**settings))
    return path


@pytest.fixture
def published(toy, tmp_path):
    return packed(toy, tmp_path / "release" / "results.zip")


def members(path):
    with zipfile.ZipFile(path) as file:
        return {name: file.read(name) for name in file.namelist()}


def rewritten(path, contents):
    with zipfile.ZipFile(path, "w") as file:
        for name, content in contents.items():
            file.writestr(name, content)


def altered(path, folder, value):
    """Replace what a folder of an archive holds, in all honesty of its form."""
    files = {f"{folder}/{name}": content for name, content in to_files(value).items()}
    rewritten(path, members(path) | files)


def task(path):
    (fingerprint,) = open_archive(path).results
    return f"results/{fingerprint}"


def built_from(toy, path):
    """Build a book with the results of an archive; return the name of its store."""
    lent = borrowing(toy.settings(), path)
    toy.build(published=lent.published, store=lent.store)
    return lent.store


def verified(toy, path, *names, minutes=5):
    settings = toy.settings(profile="smoke", folder="_build")
    rows = verify.verify_archive(settings, open_archive(path), str, names, minutes)
    return {row.chapter: row for row in rows}


def test_a_declared_timing_is_neither_published_nor_compared(toy, tmp_path):
    toy.append(SQUARE, "from time import time_ns\nreport(took=time_ns() % 1e9)")
    toy.append(SQUARE, "from bookbuild import check\ncheck('much ' * 20, 1, at_least=0)")
    timed = "---\nbookbuild: {timings: [took]}\njupytext:\n"
    toy.edit(f"book/{SQUARE}.md", "---\njupytext:\n", timed)
    toy.edit("book/index.md", "# ", "It took {glue:text}`took:.0f` ns.\n\n# ")
    toy.build()
    assert verified(toy, packed(toy, tmp_path / "x.zip"), SQUARE)[SQUARE].grade == "equal"


@pytest.mark.usefixtures("without_site")
def test_a_build_takes_what_is_lent_packs_it_again_and_keeps_what_rests_on_it_apart(
    unbuilt, published
):
    altered(published, task(published), LENT)
    altered(published, f"chapters/{LINE}", MEASURED)
    again = published.with_name("again.zip")
    with pytest.raises(BookError, match=f"Chapter {LINE} has not been executed: run make repro"):
        packed(unbuilt, again)
    lent = {"published": published, "store": built_from(unbuilt, published)}
    assert members(packed(unbuilt, again, **lent)) == members(published)
    assert not unbuilt.settings().results.exists()
    unbuilt.build()
    assert unbuilt.entry(LINE).measures["slope"]["value"] == [2.0, 2.0, 2.0]
    with pytest.raises(BookError, match="holds the paper profile at first seed 0, not the paper"):
        borrowing(unbuilt.settings(seed=7), published)
    forged = {f"{task(published)}/value.json": b'"<script>"'}
    rewritten(published, members(published) | forged)
    with pytest.raises(BookError, match=r"results\.zip is refused: its results/"):
        built_from(unbuilt, published)


@pytest.mark.usefixtures("without_site")
def test_nothing_is_lent_to_a_chapter_that_is_left_out_of_an_archive(toy, published):
    altered(published, task(published), LENT)
    left = {n: x for n, x in members(published).items() if not n.startswith(f"chapters/{LINE}")}
    about = json.loads(left[MANIFEST])
    about["chapters"][SQUARE]["results"] = hidden = about["chapters"].pop(LINE)["results"]
    rewritten(published, left | {MANIFEST: json.dumps(about, indent=1).encode()})
    entry = toy.entry(LINE, store=built_from(toy, published))
    assert entry.measures["slope"]["value"] == [2.0, 2.0, 2.0]
    row = verified(toy, published, SQUARE)[SQUARE]
    assert row.said == [f"results/{hidden[0]} only as published"]


def test_of_a_chapter_of_other_code_only_what_it_would_be_lent_is_compared(toy, published):
    toy.append(LINE, "points = points[:2]")  # measures nothing, and is other code
    toy.append(SQUARE, "x = 1")
    rows = verified(toy, published)
    assert (rows[LINE].grade, rows[LINE].numbers) == ("equal", 3)
    assert rows[LINE].part.startswith("of other code")
    assert (rows[SQUARE].grade, rows[SQUARE].part) == ("not recomputed", "it is of other code")
    altered(published, task(published), LENT)
    assert verified(toy, published, LINE)[LINE].grade == "differs"
    toy.edit("src/toy/line.py", "2.0 * point", "3.0 * point")  # now it is lent nothing
    assert verified(toy, published, LINE)[LINE].grade == "not recomputed"


def test_a_chapter_that_takes_too_long_is_recomputed_in_one_of_its_results_or_not_at_all(
    toy, published, monkeypatch
):
    costs = {LINE: Cost(1e6, "timed"), SQUARE: Cost(1e6, "timed")}
    monkeypatch.setattr(verify, "chapter_costs", lambda *_: costs)
    rows = verified(toy, published)
    assert (rows[LINE].grade, rows[LINE].part) == ("equal", "one of its 1 results recomputed")
    assert rows[SQUARE].part == "it takes longer than there was time"
    whole = "1 of 2 chapters recomputed, 1 of them in part: equal. 1 not recomputed."
    assert summary(rows.values()) == whole
    altered(published, task(published), LENT)
    assert verified(toy, published)[LINE].grade == "differs"
    toy.append(LINE, "import time; time.sleep(8 if profile == 'paper' else 0)")
    toy.build()
    costs[LINE] = Cost(0.1, "timed")
    rows = verified(toy, packed(toy, published), minutes=0.1)
    assert rows[LINE].part == "the time was up while it was computed"
    assert summary(rows.values()) == "0 of 2 chapters recomputed. 2 not recomputed."


def test_the_command_tells_what_was_recomputed(toy, published, command, capsys):
    arguments = ("verify", "--device", "cpu", "--results", str(published), "--chapter")

    def printed(*names):
        assert command(toy.root, *arguments, " ".join(names)) == ""
        return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]

    _, head, *rows, last = printed()
    assert head == " ".join(verify.HEAD.split())
    assert {*rows} == {f"{LINE} 0 paper 6 equal", f"{SQUARE} 0 paper 5 equal"}
    assert last == "2 of 2 chapters recomputed: equal. 0 not recomputed."
    assert not (toy.root / verify.SCRATCH).exists()
    *_, row, last = printed(LINE)
    assert row == f"{SQUARE} 0 paper 0 not recomputed, not named"
    assert last == "1 of 2 chapters recomputed: equal. 1 not recomputed."
    altered(published, f"chapters/{LINE}", MEASURED)
    assert command(toy.root, *arguments, LINE) == last.replace("equal", "different")
    assert "no published chapter" in command(toy.root, *arguments, "paper/99_lost")
    assert "RESULTS must name" in command(toy.root, "verify", "--results", "", "--device", "cpu")


@pytest.mark.usefixtures("without_site")
def test_a_release_has_every_part(committed):
    folder = release.write_release(committed.settings(), *committed.heard())
    names = {release.RESULTS, f"{release.RESULTS}.sha256", release.SITE, release.NOTEBOOKS}
    assert {path.name for path in folder.iterdir()} == names | {release.CITATION, release.CHANGES}
    assert "site/index.html" in members(folder / release.SITE)
    assert set(open_archive(folder / release.RESULTS).chapters) == {LINE, SQUARE}
    whole = members(folder.with_suffix(".zip"))
    assert f"{release.NOTEBOOKS}/book/{LINE}.ipynb" in whole
    assert not [name for name in whole if name.startswith(".")]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response({"/results.zip": 200, "/moved": 302}.get(self.path, 404))
        if self.path == "/moved":
            self.send_header("location", "http://example.org/results.zip")
        self.end_headers()
        self.wfile.write(CONTENT)


@pytest.fixture
def served():
    """The address of a server of one file, which leads elsewhere from another address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("source", ["results.zip", "."])
def test_a_relative_path_holds_in_kernels_too(tmp_path, monkeypatch, source):
    archive = tmp_path / "results.zip"
    archive.touch()
    monkeypatch.chdir(tmp_path)
    found = verify.locate(source, tmp_path / "kept", str)
    monkeypatch.chdir(tmp_path.parent)
    assert found.samefile(archive)


def test_what_has_its_digest_is_fetched_once(served, tmp_path):
    output = []
    for _ in range(2):
        source = f"{served}/results.zip#sha256={DIGEST}"
        assert verify.locate(source, tmp_path / "kept", output.append).read_bytes() == CONTENT
    assert output == [f"fetching {served}/results.zip"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (f"{{}}/results.zip#sha256={'0' * 64}", f"fetched: its SHA-256 is {DIGEST}, not 0{{64}}"),
        (f"{{}}/nowhere.zip#sha256={DIGEST}", "cannot be fetched: 404 Client Error"),
        ("{}/results.zip", "append #sha256="),
        ("{}/results.zip#sha256=1", "append #sha256= and the 64 hexadecimal digits"),
        (f"http://example.org/results.zip#sha256={DIGEST}", "the address must begin with https"),
        (f"{{}}/moved#sha256={DIGEST}", "the address must begin with https"),
    ],
)
def test_a_download_that_is_not_the_one_is_not_kept(served, tmp_path, source, reason):
    with pytest.raises(BookError, match=reason):
        verify.locate(source.format(served), tmp_path / "kept", str)
    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
