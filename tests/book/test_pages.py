"""What pages and data say of one another, where a slip misleads and nothing else would tell."""

import csv
import importlib
import inspect
import json
import re
import statistics
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from pybtex.database import parse_file

from bookbuild.site.pieces import read_coverage
from bookbuild.source.book import read_book
from bookbuild.source.chapters import read_toc
from chapters.beyond import machine_checked
from evidence.record import read_record
from tools.this_book import ROOT, chapters, claims, read_outside

BOOK, DATA = ROOT / "book", ROOT / "data"
PARTS: dict[str, tuple[str, ...]] = {
    "paper": ("**The paper's question.**", "**What the paper says.**", "**What we find.**"),
    "beyond": ("**The question.**", "**What one would expect.**", "**What we find.**"),
    "companions": ("**The question.**", "**What the source says.**", "**What we find.**"),
}
LOOKED_UP = {"errata", "equations"}  # tables, which neither open nor end as chapters do
AUTHORS = [
    "Tiberiu Musat", "Tiago Pimentel", "Lorenzo Noci",
    "Alessandro Stolfo", "Mrinmaya Sachan", "Thomas Hofmann",
]  # fmt: skip
STATEMENT = re.compile(r"^(`{3,})\{prf:(\w+)\}(.*?)^\1$", re.S | re.M)
PROVED = "theorem", "lemma", "proposition"
MASK = re.compile(r"\b(?:strict|causal|either) mask\b", re.I)
IN_BRIEF = re.compile(
    r"^:::\{admonition\} .*?^:::$|^\*\*(?:Integration|Derivation|Prediction)\*\*.*?$", re.S | re.M
)
QUOTED = re.compile(r"\{verdict\}`([\w-]+)`")
OBJECTS = yaml.safe_load((DATA / "proof_objects.yml").read_text(encoding="utf-8"))


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def pages(part: str, pattern: str = "*.md") -> list[Path]:
    return sorted((BOOK / part).glob(pattern))


def rows_of(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text(DATA / name).splitlines()))


@pytest.mark.parametrize("part", PARTS)
def test_a_chapter_opens_with_its_question_and_ends_with_what_to_take_away(part: str) -> None:
    """*Results in brief* and readers who skim go by these."""
    for page in (page for page in pages(part, "[0-9A-F]*.md") if page.stem not in LOOKED_UP):
        opening = PARTS[part]
        if page.stem == "01_introduction":
            opening = (opening[0], "**The paper's answer, in four claims.**")
        places = [text(page).find(phrase) for phrase in opening]
        if page.stem != "09_conclusion":  # which has neither
            assert -1 not in places, page
            assert places == sorted(places), page
            assert text(page).count("{admonition} What to take away") == 1, page


def test_the_code_of_cells_has_no_unknown_names_and_declares_the_data_that_it_reads(
    tmp_path: Path,
) -> None:
    """A cell that is not executed at toy sizes may have slips, and undeclared data no key."""
    for chapter in (chapter for chapter in chapters() if "/" in chapter.name):
        source = "\n\n".join(cell.source for cell in chapter.code)
        (tmp_path / f"{chapter.name.replace('/', '-')}.py").write_text(source, encoding="utf-8")
        read = {name for name in re.findall(r"data/[\w./]+", source) if (ROOT / name).is_file()}
        assert read <= set(chapter.data), chapter.name
        assert read_outside(chapter, "profile", "choose") == [], chapter.name  # only its preset
    # a last line that shows its value is no useless expression in a notebook
    rules = ["--select", "E9,F,B", "--ignore", "F722,F821,B018"]
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", *rules]
    done = subprocess.run([*ruff, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_every_author_is_named_where_a_work_is_credited() -> None:
    for page in (ROOT / "README.md", BOOK / "index.md"):
        assert all(author in text(page) for author in AUTHORS), page
        assert "anonymous submission of September 2025" in text(page)
    entries = parse_file(BOOK / "references.bib").entries
    people = entries["paper"].persons["author"]
    assert [f"{person.first_names[0]} {person.last_names[0]}" for person in people] == AUTHORS
    for key, entry in entries.items():
        assert "others" not in map(str, entry.persons.get("author", [])), key


def test_every_word_to_be_avoided_is_one_for_the_pattern_of_codespell() -> None:
    """Others are never found."""
    words = [line.split("->")[0] for line in text(ROOT / "tools/words.txt").splitlines()]
    pattern = tomllib.loads(text(ROOT / "pyproject.toml"))["tool"]["codespell"]["regex"]
    assert [word for word in words if not re.fullmatch(pattern, word)] == []
    assert words == sorted(words)


def test_the_readme_of_the_data_lists_every_file() -> None:
    rows = re.findall(r"^\| `([\w./*]+)` \| .+ \| (.+) \|$", text(DATA / "README.md"), re.M)
    scripts = [name for _, command in rows for name in re.findall(r"`([\w/]+\.py)`", command)]
    files = {path.relative_to(DATA).as_posix() for path in DATA.rglob("*") if path.is_file()}
    files = {re.sub(r"machines/.*", "machines/*.json", n) for n in files if "__pycache__" not in n}
    rows = [row for row in rows if "*" not in row[0] or row[0] in files]  # nobody may have sent one
    assert {name for name, _ in rows} | set(scripts) | {"README.md"} == files


def test_equations_lead_to_functions_tests_and_theorems_that_exist() -> None:
    rows = rows_of("equations.csv")
    for row in rows:
        if row["function"]:
            module, _, function = row["function"].rpartition(".")
            assert callable(getattr(importlib.import_module(module), function)), row
        if row["test"]:
            path, _, function = row["test"].partition("::")
            assert f"\ndef {function}(" in text(ROOT / path), row
    named = {name for row in rows for name in (row["formal"] or "").split()}
    assert named
    assert named <= set(machine_checked.statements(ROOT / machine_checked.FOLDER))
    assert {f"Eq. {number}" for number in range(1, 16)} <= {row["equation"] for row in rows}


def test_the_map_of_the_paper_is_complete_and_names_what_the_book_has() -> None:
    pieces = read_coverage(ROOT)
    proves = {"row": "rows", "equation": "equations", "erratum": "errata"}
    named = {field: {x for p in pieces for x in getattr(p, field)} for field in proves.values()}
    assert [p for p in pieces if (field := proves.get(p.tag)) and not getattr(p, field)] == []
    assert [p for p in pieces if p.kind == "display" and p.tag not in proves] == []
    assert {f"Figure {n}" for n in range(1, 18)} <= {piece.place for piece in pieces}
    of_paper = {name for name, claim in claims().items() if claim.kind == "paper"}
    assert of_paper <= named["rows"] <= set(claims())
    assert named["equations"] <= {row["equation"] for row in rows_of("equations.csv")}
    anchors = set(re.findall(r"^\(([\w-]+)\)=$", text(BOOK / "paper/errata.md"), re.M))
    assert {name for name in anchors if name.startswith("slip")} <= named["errata"] <= anchors


def test_every_erratum_is_defended_and_is_on_its_page_once() -> None:
    sorted_out = text(BOOK / "paper/errata.md").partition("\n## Withdrawn")[0]
    entries = re.split(r"^\((slips?-[\w-]+)\)=$", sorted_out, flags=re.M)
    named = Counter(QUOTED.findall(sorted_out))
    for name, entry in zip(entries[1::2], entries[2::2], strict=True):
        rows = [claims()[row] for row in QUOTED.findall(entry)]
        heard = re.findall(r"\*(Defence|Answer)\*: ", entry) == ["Defence", "Answer"]
        assert heard or (rows and all(row.rebuttal for row in rows)), name
    errata = {row.id for row in claims().values() if row.kind == "erratum"}
    assert {name for name in named if claims()[name].kind == "erratum"} == errata
    assert set(named.values()) == {1}


@pytest.mark.parametrize(("part", "number"), [("beyond", "II"), ("companions", "III")])
def test_file_page_and_theorems_of_a_chapter_have_one_number(part: str, number: str) -> None:
    toc, book = str(read_toc(ROOT)), read_book(ROOT)
    listed = re.findall(rf"'book/{part}/(\d\d)_\w+', 'title': [\"'](.*?) ", toc)
    assert listed == [(f"{n:02}", f"{number}.{n}") for n in range(1, len(listed) + 1)] != []
    for page in pages(part):
        for _, kind, stated in STATEMENT.findall(text(page)):
            if kind != "proof":
                assert ":label:" in stated, page
                numbered = bool(book.chapter_number(f"{part}/{page.stem}"))
                assert numbered == (":nonumber:" not in stated), page


def test_every_statement_of_ours_says_under_which_mask_it_holds() -> None:
    """There are two masks, and the laws differ."""
    found = {c.id: c.statement for c in claims().values() if c.chapter.startswith("beyond/")}
    for page in pages("beyond"):
        stated = [s[2] for s in STATEMENT.findall(text(page)) if s[1] != "proof"]
        brief = IN_BRIEF.findall(text(page)) if page.stem == "in_brief" else []
        found |= {f"{page.stem}: {part.strip()[:60]}": part for part in (*stated, *brief)}
        assert not page.stem[0].isdigit() or MASK.search(text(page)), page
    new = re.findall(r"^## \d.*?(?=^## )", text(BOOK / "beyond/what_is_new.md"), re.S | re.M)
    found |= {part.splitlines()[0]: part for part in new}
    assert len(found) > 100
    assert [name for name, part in found.items() if not MASK.search(part)] == []


def test_each_statement_is_followed_by_its_proof_and_rests_on_what_is_named() -> None:
    labels = []
    for page in pages("beyond", "[0-9]*.md"):
        stated = [s for s in STATEMENT.findall(text(page)) if s[1] in (*PROVED, "proof")]
        for (_, kind, statement), (_, after, _) in pairwise((*stated, ("", "", ""))):
            if kind in PROVED:
                labels += re.findall(r":label: (\S+)", statement)
                assert after == "proof", labels[-1]
    assert labels == list(OBJECTS)
    proved = json.loads(text(DATA / "proofs.json"))["theorems"]
    signs = {"balls": r"\bflint\b|_balls", "algebra": r"\bsympy\b", "doubles": r"\bnumpy\b"}
    for label, kinds in OBJECTS.items():
        assert set(kinds) <= {"coq", *signs}, label
        assert set(kinds.get("coq", [])) <= set(proved), label
        for kind, name in ((sign, name) for sign in signs for name in kinds.get(sign, [])):
            module, routine = name.split(":")
            found = importlib.import_module(module)
            assert callable(getattr(found, routine)), name
            sources = "".join(map(inspect.getsource, related(found)))
            assert re.search(signs[kind], sources), name
            assert kind != "doubles" or not re.search(signs["balls"], sources), name


def related(module: ModuleType) -> Iterator[ModuleType]:
    """A module and the modules of its package that it uses."""
    yield module
    package = module.__name__ if hasattr(module, "__path__") else module.__package__
    for value in vars(module).values():
        name = getattr(value, "__module__", None) or getattr(value, "__name__", "")
        if isinstance(name, str) and name.startswith(f"{package}.") and name != module.__name__:
            yield importlib.import_module(name)


def test_the_appendix_derives_every_bound_of_the_boxes() -> None:
    records = (
        "box.Box", "box.Carried", "every_large.Attentions", "every_large.Outputs",
        "every_large.Pushes", "any_pair.outputs.Extent", "any_pair.outputs.Errors",
        "any_pair.outputs.Deviations", "any_pair.outputs.OutputBounds", "any_pair.outputs.Forces",
        "any_pair.outputs.QuickFlow", "any_pair.scores.Costs",
    )  # fmt: skip
    for name in records:
        module, _, record = name.rpartition(".")
        found = importlib.import_module(f"chapters.beyond.full_flow.{module}")
        fields = getattr(found, record)._fields
        page = text(BOOK / "beyond/inequalities.md")
        assert [field for field in fields if f"`{field}`" not in page] == [], name


def test_what_is_new_says_what_proves_each_statement() -> None:
    table = []
    kinds = {"balls": "interval arithmetic", "algebra": "SymPy", "doubles": "not for its numbers"}
    for label, by_kind in OBJECTS.items():
        parts = [f"Coq: `{'`, `'.join(by_kind['coq'])}`"] if "coq" in by_kind else []
        for kind in (kind for kind in kinds if kind in by_kind):
            names = [name.split(".", 1)[1].replace("beyond.", "") for name in by_kind[kind]]
            parts.append(f"{kinds[kind]}: `{'`, `'.join(names)}`")
        table.append(f"| {{prf:ref}}`{label}` | {'; '.join(parts) or 'printed in full'} |")
    assert "\n".join(table) in text(BOOK / "beyond/what_is_new.md")


def test_a_row_about_a_source_that_does_not_hold_on_record_has_a_rebuttal() -> None:
    record = read_record(ROOT)
    for claim in (c for c in claims().values() if c.kind in ("paper", "companion")):
        reruns = [o.values for o in record.of(claim.chapter, "seed", "rounding")]
        values = [v for v in reruns if claim.measure in v]
        verdicts = {verdict for v in values if (verdict := claim.verdict_on(v))}
        verdicts |= {"not testable here"} if claim.not_testable else set()
        assert not any(map(claim.owes_a_rebuttal, verdicts)), claim.id


def test_the_bound_on_the_gain_of_mlps_is_three_deviations_between_seeds() -> None:
    """A gain in accuracy below it cannot be told from the luck of a seed."""
    claim = claims()["mlp-no-better"]
    reruns = [o.values for o in read_record(ROOT).of(claim.chapter, "seed")]
    gains = [gain for v in reruns for gain in v.get(claim.measure, ()) if abs(gain) < 0.5]
    if not gains:
        pytest.skip("nothing has been repeated yet")
    assert len(gains) >= 10
    assert claim.expectation
    assert 2.5 < claim.expectation.high / statistics.stdev(gains) < 3.5
