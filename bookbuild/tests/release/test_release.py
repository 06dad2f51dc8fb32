"""What a release says of itself is true, valid, and follows from one source."""

import json
import re
import shutil
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from bookbuild.errors import BookError
from bookbuild.release import crate, metadata, pack
from bookbuild.release.deposit import deposit_release
from bookbuild.results.archive import open_archive
from bookbuild.source.citation import SOURCE, read_citation
from tools.this_book import ROOT
from tools.toy_book import LINE, SQUARE, Command, Toy

AUDIT = ROOT / ".venv-audit" / "bin"
FILES = (".gitignore", "requirements.lock", "LICENSE", "postBuild", "pyproject.toml")
FILES += (SOURCE, pack.CHANGES)
AUTHORS = ("Musat", "Pimentel", "Noci", "Stolfo", "Sachan", "Hofmann")

audited = pytest.mark.skipif(
    not AUDIT.is_dir(), reason="the auditors are not installed: run make test"
)


@pytest.fixture
def book(toy: Toy) -> Toy:
    """The built toy book, with the files of this one that a release takes along."""
    for name in FILES:
        (toy.root / name).write_bytes((ROOT / name).read_bytes())
    return toy


@pytest.fixture
def released(book: Toy, without_site: None) -> Path:
    """The release of the toy book."""
    toy = book
    toy.git("init", "--quiet", "--initial-branch=main")
    toy.git("add", "--all")
    toy.git("commit", "--quiet", "--message=toy")
    return pack.release(toy.settings(), *toy.heard())


def test_the_paper_is_named_with_all_its_authors_and_its_version(book: Toy) -> None:
    article = metadata.codemeta(book.root)["referencePublication"]
    assert tuple(who["familyName"] for who in article["author"]) == AUTHORS
    assert article["@id"] == "https://arxiv.org/abs/2511.01033"
    assert "September 2025" in article["version"]
    assert "September 2025" in metadata.zenodo(book.root)["description"]


def test_codemeta_says_what_it_has_to_in_its_own_terms(book: Toy) -> None:
    terms = {"@context", "@type", "name", "description", "version", "license", "author", "url"}
    terms |= {"dateModified", "keywords", "codeRepository", "issueTracker", "runtimePlatform"}
    terms |= {"continuousIntegration", "programmingLanguage", "softwareRequirements"}
    terms |= {"developmentStatus", "referencePublication"}
    told = metadata.codemeta(book.root)
    assert set(told) == terms
    assert all(told.values())


def test_people_may_take_the_place_of_the_contributors(released: Path, book: Toy) -> None:
    person = "family-names: Lovelace\n    given-names: Ada\n    orcid: https://orcid.org/0000"
    book.edit("CITATION.cff", 'name: "The contributors"', person)
    ada = {"@type": "Person", "givenName": "Ada", "familyName": "Lovelace"}
    assert metadata.codemeta(book.root)["author"] == [ada | {"@id": "https://orcid.org/0000"}]
    assert metadata.zenodo(book.root)["creators"] == [{"name": "Lovelace, Ada"}]
    book.git("commit", "--quiet", "--all", "--message=people")
    released = pack.release(book.settings(), *book.heard())
    assert "Lovelace, Ada" in (released / crate.NAME).read_text(encoding="utf-8")


def test_without_a_citation_one_sentence_says_so(tmp_path: Path) -> None:
    with pytest.raises(BookError, match=r"CITATION\.cff cannot be read"):
        read_citation(tmp_path)


def test_a_release_has_every_part_and_names_it(released: Path) -> None:
    names = {path.name for path in released.iterdir()}
    assert names == {*pack.PARTS, pack.NOTEBOOKS, crate.NAME}
    with zipfile.ZipFile(released / pack.SITE) as site:
        assert "site/index.html" in site.namelist()
    assert set(open_archive(released / pack.RESULTS).chapters) == {LINE, SQUARE}
    entities = json.loads((released / crate.NAME).read_text(encoding="utf-8"))["@graph"]
    graph = {entity["@id"]: entity for entity in entities}
    for part in graph["./"]["hasPart"]:
        assert part["@id"] in graph
        assert part["@id"].startswith("https://") or (released / part["@id"]).is_file()
    actions = [entity for entity in graph.values() if entity["@type"] == "CreateAction"]
    notebooks = {f"notebooks/book/{name}.ipynb" for name in (LINE, SQUARE)}
    assert {action["result"]["@id"] for action in actions} == notebooks
    for action in actions:
        assert action["startTime"] <= action["endTime"]
        for reference in (action["result"], action["instrument"], *action["object"]):
            assert reference["@id"] in graph
    text = (released / metadata.APPENDIX).read_text(encoding="utf-8")
    row = r"\| line-slope \| §1 \| reproduced \| `paper/01_line` \| \d\.\d \| 1\.0, guessed \|"
    assert re.search(row, text)
    assert "verify --results results.zip" in text
    memory = r"\| Memory \| \d+\.\d MB in the chapter that needs most"
    assert re.search(memory, text)


@audited
def test_the_release_is_a_valid_process_run_crate_as_downloaded(
    released: Path, tmp_path: Path
) -> None:
    downloaded = tmp_path / "downloaded"
    shutil.unpack_archive(released.with_suffix(".zip"), downloaded)
    assert not [path for path in downloaded.rglob("*") if path.name.startswith(".")]
    released = downloaded

    def audit() -> subprocess.CompletedProcess[str]:
        order = [AUDIT / "python", ROOT / "tools" / "release_audit" / "crate.py", released]
        return subprocess.run(order, capture_output=True, text=True, check=False)

    done = audit()
    assert (done.returncode, done.stdout) == (0, "")
    path = released / crate.NAME
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"instrument"', '"tool"'), encoding="utf-8")
    done = audit()
    assert done.returncode == 1
    assert "process-run-crate" in done.stdout


@audited
def test_the_citation_is_valid(tmp_path: Path) -> None:
    def audit(path: Path) -> int:
        order = [AUDIT / "cffconvert", "--validate", "--infile", path]
        return subprocess.run(order, capture_output=True, check=False).returncode

    assert audit(ROOT / SOURCE) == 0
    broken = tmp_path / SOURCE
    text = (ROOT / SOURCE).read_text(encoding="utf-8")
    broken.write_text(text.replace("authors:", "writers:"), encoding="utf-8")
    assert audit(broken) != 0


class Zenodo(BaseHTTPRequestHandler):
    """What Zenodo answers, and what it was sent."""

    sent: ClassVar[dict[str, bytes]] = {}

    def _answer(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != "Bearer right":
            self.send_error(403)
            return
        self.sent[f"{self.command} {self.path}"] = content
        here = f"http://{self.headers['Host']}"
        links = {"bucket": f"{here}/files", "self": f"{here}/draft", "html": f"{here}/page"}
        said = {"links": links, "metadata": {"prereserve_doi": {"doi": "10.5072/1"}}}
        self.send_response(201)
        self.end_headers()
        self.wfile.write(json.dumps(said).encode())

    do_POST = do_PUT = _answer

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def zenodo() -> Iterator[str]:
    """The address of a server with Zenodo's interface."""
    Zenodo.sent.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Zenodo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_deposit_has_the_whole_release_under_one_doi(released: Path, zenodo: str) -> None:
    page, doi = deposit_release(released, "right", zenodo)
    assert (page, doi) == (f"{zenodo}/page", "10.5072/1")
    whole = released.with_suffix(".zip")
    assert Zenodo.sent[f"PUT /files/{whole.name}"] == whole.read_bytes()
    for name in (pack.RESULTS, pack.SITE):
        assert Zenodo.sent[f"PUT /files/{name}"] == (released / name).read_bytes()
    said = json.loads(Zenodo.sent["PUT /draft"])["metadata"]
    assert said["creators"]
    assert said["upload_type"] == "software"


def test_a_deposit_that_is_refused_ends_in_one_sentence(
    released: Path, zenodo: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ZENODO_TOKEN", raising=False)
    with pytest.raises(BookError, match="The deposit failed, and its draft is not complete: 403"):
        deposit_release(released, "wrong", zenodo)
    root = released.parents[1]
    assert command(root, "deposit") == (
        "A deposit needs an access token: set the environment variable ZENODO_TOKEN."
    )
    shutil.rmtree(released)
    released.with_suffix(".zip").unlink()
    assert "run make release first" in command(root, "deposit", "--token", "right")
