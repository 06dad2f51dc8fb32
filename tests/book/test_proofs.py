"""Every statement of part II that is called proved has a proof object, and the pages say which."""

import importlib
import inspect
import json
import re

import pytest
import yaml

from tools.this_book import ROOT

OBJECTS = yaml.safe_load((ROOT / "data/proof_objects.yml").read_text(encoding="utf-8"))
COQ = json.loads((ROOT / "data/proofs.json").read_text(encoding="utf-8"))["theorems"]
CHAPTERS = sorted((ROOT / "book/beyond").glob("[0-9]*.md"))
FRONT = [
    ROOT / name
    for name in (
        "README.md", "book/index.md", "book/practice.md", "book/beyond/in_brief.md",
        "book/beyond/what_is_new.md",
    )
]  # fmt: skip
STATED = re.compile(r"^`{3,}\{prf:(theorem|lemma|proposition)\}[^\n]*\n:label: (\S+)", re.M)
PROVED = re.compile(r"^`{3,}\{prf:proof\}\n(.+?)^`{3,}$", re.M | re.S)
CLAIMED = re.compile(r"\b(prove[sdn]?|proof|theorem|enclose[sd]?|bounds|rigorous)\b", re.I)
BY_BALLS = re.compile(r"interval arithmetic|\bArb\b|\benclose[sd]?\b|validated", re.I)
REFERENCE = re.compile(r"\{prf:ref\}`(?:[^`<]*<)?([\w-]+)>?`")
BLOCK = re.compile(r"^:::\{admonition\}.*?^:::$", re.M | re.S)
LINK = re.compile(r"\]\((?:beyond/)?(\d\d_\w+)\.md")
# of the paper, of a list of theorems, or of what is not proved
OF_OTHERS = re.compile(
    r"Theorem \d|the paper proves|(figure or|by figure and) theorem|all theorems|[Ee]very theorem"
)


def labels(path):
    return [label for _, label in STATED.findall(path.read_text(encoding="utf-8"))]


OF_CHAPTER = {path.stem: labels(path) for path in CHAPTERS}


def referred(text):
    """The statements that a text refers to, by their labels or by the chapters that it links."""
    linked = (label for name in LINK.findall(text) for label in OF_CHAPTER.get(name, []))
    return {*REFERENCE.findall(text), *linked} & set(OBJECTS)


def test_each_statement_has_a_row_and_a_printed_proof():
    assert [label for found in OF_CHAPTER.values() for label in found] == list(OBJECTS)
    for path in CHAPTERS:
        text = path.read_text(encoding="utf-8")
        for stated in STATED.finditer(text):
            proof = PROVED.search(text, stated.end())
            assert proof, stated[2]
            assert not STATED.search(text, stated.end(), proof.start()), stated[2]
            assert len(proof[1]) > 200, stated[2]


@pytest.mark.parametrize("label", [label for label, kinds in OBJECTS.items() if kinds])
def test_each_object_is_what_it_is_called(label):
    kinds = OBJECTS[label]
    assert set(kinds) <= {"coq", "balls", "algebra", "doubles"}
    assert set(kinds.get("coq", [])) <= set(COQ)
    signs = {"balls": r"\bflint\b|_balls", "algebra": r"\bsympy\b", "doubles": r"\bnumpy\b"}
    for kind, sign in signs.items():
        for name in kinds.get(kind, []):
            module, routine = name.split(":")
            found = importlib.import_module(module)
            assert callable(getattr(found, routine))
            sources = "".join(map(inspect.getsource, related(found)))
            assert re.search(sign, sources), name
            assert kind != "doubles" or not re.search(signs["balls"], sources), name


def related(module):
    """A module and the modules of its package that it uses."""
    yield module
    package = module.__name__ if hasattr(module, "__path__") else module.__package__
    for value in vars(module).values():
        name = getattr(value, "__module__", None) or getattr(value, "__name__", "")
        if isinstance(name, str) and name.startswith(package + ".") and name != module.__name__:
            yield importlib.import_module(name)


@pytest.mark.parametrize("path", FRONT, ids=lambda path: path.stem)
def test_a_paragraph_that_speaks_of_a_proof_refers_to_one(path):
    text = BLOCK.sub(lambda block: block[0].replace("\n\n", "\n"), path.read_text(encoding="utf-8"))
    for paragraph in text.split("\n\n"):
        plain = re.sub(r"\{verdict\}`.*?`|\*Open\*.*|^#.*|:class: proof", "", paragraph)
        if CLAIMED.search(plain) and not OF_OTHERS.search(plain):
            assert referred(paragraph), paragraph
        if BY_BALLS.search(plain) and "| statement |" not in plain and not OF_OTHERS.search(plain):
            assert any("balls" in OBJECTS[label] for label in referred(paragraph)), paragraph


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_that_speaks_of_enclosures_has_one(path):
    text = path.read_text(encoding="utf-8")
    prose = re.sub(r"^```\{code-cell\}.*?^```$", "", text, flags=re.M | re.S)
    stated = referred(text) | set(OF_CHAPTER[path.stem])
    if BY_BALLS.search(prose):
        assert any("balls" in OBJECTS[label] for label in stated)
    if re.search(r"\b(we prove|is proved|are proved|proves that)\b", prose, re.I):
        assert stated


def test_the_appendix_derives_every_bound_of_the_two_boxes():
    page = (ROOT / "book/beyond/inequalities.md").read_text(encoding="utf-8")
    records = {
        "box": ("Box", "Carried"), "every_large.attentions": ("Attentions",),
        "every_large.outputs": ("Outputs",), "every_large.pushes": ("Pushes",),
        "any_pair.extent": ("Extent", "Errors"), "any_pair.attentions": ("Deviations",),
        "any_pair.outputs": ("OutputBounds", "Forces", "QuickFlow"), "any_pair.scores": ("Costs",),
    }  # fmt: skip
    for module, names in records.items():
        found = importlib.import_module(f"chapters.beyond.full_flow.{module}")
        for name in names:
            fields = getattr(found, name)._fields
            assert [field for field in fields if f"`{field}`" not in page] == [], name


def row(label):
    kinds = OBJECTS[label]
    parts = [f"Coq: `{'`, `'.join(kinds['coq'])}`"] if "coq" in kinds else []
    for kind, text in (
        ("balls", "interval arithmetic"), ("algebra", "SymPy"), ("doubles", "not for its numbers"),
    ):  # fmt: skip
        names = [name.split(".", 1)[1].replace("beyond.", "") for name in kinds.get(kind, [])]
        parts += [f"{text}: `{'`, `'.join(names)}`"] if names else []
    return f"| {{prf:ref}}`{label}` | {'; '.join(parts) or 'printed in full'} |"


def test_what_is_new_says_what_proves_each_statement():
    page = (ROOT / "book/beyond/what_is_new.md").read_text(encoding="utf-8")
    assert "\n".join(map(row, OBJECTS)) in page
