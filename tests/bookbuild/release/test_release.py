"""What a release says of itself is true, valid, and follows from one source."""

import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.release import appendix, crate, metadata, pack
from bookbuild.results.archive import open_archive
from bookbuild.site import browser
from bookbuild.source.citation import SOURCE, citation
from tools.this_book import ROOT
from tools.toy_book import LINE, SQUARE, Toy

AUDIT = ROOT / ".venv-audit" / "bin"
FILES = (".gitignore", "requirements.lock", "LICENSE", "postBuild", "pyproject.toml")
FILES += (SOURCE, metadata.CODEMETA, metadata.ZENODO, pack.CHANGES)
AUTHORS = ("Musat", "Pimentel", "Noci", "Stolfo", "Sachan", "Hofmann")

audited = pytest.mark.skipif(
    not AUDIT.is_dir(), reason="the auditors are not installed: run make auditors"
)


@pytest.fixture
def released(toy: Toy, monkeypatch: pytest.MonkeyPatch, without_site: None) -> Path:
    """The release of the toy book, without a browser."""
    for name in FILES:
        (toy.root / name).write_bytes((ROOT / name).read_bytes())
    toy.git("init", "--quiet", "--initial-branch=main")
    toy.git("add", "--all")
    toy.git("commit", "--quiet", "--message=toy")
    monkeypatch.setattr(browser, "program", lambda: None)
    return pack.release(toy.settings(), *toy.heard())


def test_the_descriptions_are_those_that_follow_from_the_citation() -> None:
    for name, made in ((metadata.CODEMETA, metadata.codemeta), (metadata.ZENODO, metadata.zenodo)):
        written = json.loads((ROOT / name).read_text(encoding="utf-8"))
        assert written == made(ROOT), f"run python -m bookbuild metadata: {name} is of another time"


def test_the_paper_is_named_with_all_its_authors_and_its_version() -> None:
    article = metadata.codemeta(ROOT)["referencePublication"]
    assert tuple(who["familyName"] for who in article["author"]) == AUTHORS
    assert article["@id"] == "https://arxiv.org/abs/2511.01033"
    assert "September 2025" in article["version"]
    assert "September 2025" in metadata.zenodo(ROOT)["description"]


def test_codemeta_says_what_it_has_to_in_its_own_terms() -> None:
    terms = {"@context", "@type", "name", "description", "version", "license", "author", "url"}
    terms |= {"dateModified", "keywords", "codeRepository", "issueTracker", "runtimePlatform"}
    terms |= {"continuousIntegration", "programmingLanguage", "softwareRequirements"}
    terms |= {"developmentStatus", "referencePublication"}
    told = metadata.codemeta(ROOT)
    assert set(told) == terms
    assert all(told.values())


def test_without_a_citation_one_sentence_says_so(tmp_path: Path) -> None:
    with pytest.raises(BookError, match=r"CITATION\.cff cannot be read"):
        citation(tmp_path)


def test_a_release_has_every_part_and_names_it(released: Path, toy: Toy) -> None:
    assert "no PDF: there is no browser to print it" in toy.lines
    names = {path.name for path in released.iterdir()}
    assert names == {*pack.PARTS, pack.NOTEBOOKS, crate.NAME} - {pack.PDF}
    with zipfile.ZipFile(released / pack.SITE) as site:
        assert "site/index.html" in site.namelist()
    assert len(open_archive(released / pack.RESULTS).of_kind("chapter")) == 2
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
    text = (released / appendix.NAME).read_text(encoding="utf-8")
    assert "| line-slope | §1 | reproduced | `paper/01_line` |" in text
    assert "make verify RESULTS=results.zip" in text
    memory = r"\| Memory \| \d+\.\d MB in `.*`, the most; two chapters at once at most \d"
    assert re.search(memory, text)


@audited
def test_the_crate_is_a_valid_process_run_crate(released: Path) -> None:
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
