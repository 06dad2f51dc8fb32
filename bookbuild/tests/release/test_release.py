"""What a release says of itself is true, valid, and follows from one source."""

import json
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
import requests

from bookbuild.errors import BookError
from bookbuild.release import crate, pack
from bookbuild.results.archive import open_archive
from bookbuild.source.citation import SOURCE
from tools.this_book import ROOT
from tools.toy_book import LINE, SQUARE, Command, Toy

AUDIT = ROOT / ".venv-audit" / "bin"
AUTHORS = ("Musat", "Pimentel", "Noci", "Stolfo", "Sachan", "Hofmann")

audited = pytest.mark.skipif(
    not AUDIT.is_dir(), reason="the auditors are not installed: run make test"
)


@pytest.fixture
def released(committed: Toy, without_site: None) -> Path:
    """The release of the toy book."""
    return pack.release(committed.settings(), *committed.heard())


def test_the_paper_is_named_with_all_its_authors_and_its_version(committed: Toy) -> None:
    output = pack.codemeta(committed.root)
    assert all(output.values())
    article = output["referencePublication"]
    assert tuple(who["familyName"] for who in article["author"]) == AUTHORS
    assert article["@id"] == "https://arxiv.org/abs/2511.01033"
    assert "September 2025" in article["version"]
    assert "September 2025" in pack.zenodo(committed.root)["description"]


def test_people_may_take_the_place_of_the_contributors(committed: Toy) -> None:
    person = "family-names: Lovelace\n    given-names: Ada\n    orcid: https://orcid.org/0000"
    committed.edit("CITATION.cff", 'name: "The contributors"', person)
    ada = {"@type": "Person", "givenName": "Ada", "familyName": "Lovelace"}
    assert pack.codemeta(committed.root)["author"] == [ada | {"@id": "https://orcid.org/0000"}]
    assert pack.zenodo(committed.root)["creators"] == [{"name": "Lovelace, Ada"}]


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


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """What was sent to a server with Zenodo's interface."""
    content: dict[str, bytes] = {}

    def request(self: requests.Session, method: str, address: str, **given: Any) -> object:
        answer = requests.Response()
        answer.status_code = 201 if self.headers["Authorization"] == "Bearer right" else 403
        links = {"bucket": "https://z/files", "self": "https://z/draft", "html": "https://z/page"}
        said = {"links": links, "metadata": {"prereserve_doi": {"doi": "10.5072/1"}}}
        answer._content = json.dumps(said).encode()
        data = given.get("data")
        content[f"{method} {address}"] = data.read() if data else json.dumps(given["json"]).encode()
        return answer

    monkeypatch.setattr(requests.Session, "request", request)
    return content


def test_a_deposit_has_the_whole_release_under_one_doi(
    released: Path, sent: dict[str, bytes]
) -> None:
    assert pack.deposit_release(released, "right") == ("https://z/page", "10.5072/1")
    whole = released.with_suffix(".zip")
    for path in (whole, released / pack.RESULTS, released / pack.SITE):
        assert sent[f"PUT https://z/files/{path.name}"] == path.read_bytes()
    said = json.loads(sent["PUT https://z/draft"])["metadata"]
    assert said["creators"]
    assert said["upload_type"] == "software"


@pytest.mark.usefixtures("sent")
def test_a_deposit_that_is_refused_ends_in_one_sentence(
    released: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ZENODO_TOKEN", raising=False)
    with pytest.raises(BookError, match="The deposit failed, and its draft is not complete: 403"):
        pack.deposit_release(released, "wrong")
    root = released.parents[1]
    assert command(root, "deposit") == (
        "A deposit needs an access token: set the environment variable ZENODO_TOKEN."
    )
    shutil.rmtree(released)
    released.with_suffix(".zip").unlink()
    assert "run make release first" in command(root, "deposit", "--token", "right")
