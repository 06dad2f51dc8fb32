"""The verdicts as MyST: a matrix by figure and theorem, and all rows."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from bookbuild.source.chapters import Chapter, figure_name

from .claims import Finding, Verdict
from .records import Records
from .templates import measure_anchor, render, slug

# What the paper numbers, in the order of the matrix: what stands for it in a source, and its group.
STATED, GIVEN = "Theorems and hypotheses", "Definitions and assumptions"
NUMBERED = {
    "Figure": (r"Figs?\.", "Figures"),
    "Theorem": (r"Theorems?", STATED),
    "Corollary": (r"Corollar(?:y|ies)", STATED),
    "Hypothesis": (r"Hypothes[ie]s", STATED),
    "Definition": (r"Definitions?", GIVEN),
    "Assumption": (r"Assumptions?", GIVEN),
    "Proposition": (r"Propositions?", STATED),
}
NUMBERS = r"(?:\d+(?:-\d+)?(?:, | and )?)+"
# What a source names else: the section of the paper, or the group of its equations.
PLACES = {
    "§{}": re.compile(r"§(\d+)"),
    "Appendix {}": re.compile(r"(?:App\. |\b)([A-F])\b\.?"),
    "Eq. {}": re.compile(r"\bEq\. (\d+)"),
}
ORDER = [*NUMBERED, "§", "Appendix", "Eq."]
REST = "Other pages"
FIGURE = re.compile(r"figure-\d+")
ANCHOR = re.compile(r"^(?:\(([a-z]+-\d+)\)=|:label: ([a-z]+-\d+))$", re.MULTILINE)


@dataclass(frozen=True)
class Item:
    """A figure, a theorem or a section of the paper, with the rows about it.

    `href` leads to where the book has it, from the page of verdicts. `counts` says how many claims
    of the paper have each verdict; sharper readings of them and errata are counted apart.
    """

    name: str
    href: str
    counts: Mapping[Verdict, int]
    sharper: int
    errata: int

    @property
    def key(self) -> str:
        """The item as it stands in addresses: figure-4."""
        return item_key(self.name)


def items_of(source: str) -> list[str]:
    """Return what a source such as “§5, Fig. 4” names: its figures, else its section."""
    named = [
        f"{kind} {number}"
        for kind, (pattern, _) in NUMBERED.items()
        for numbers in re.findall(rf"\b{pattern} ({NUMBERS})(?![.\d])", source)
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", numbers)  # of "6-8" or "1 and 2"
        for number in range(int(first), int(last or first) + 1)
    ]
    if named:
        return named
    for form, pattern in PLACES.items():
        if match := pattern.search(source):
            return [form.format(match[1])]
    return []


def item_key(name: str) -> str:
    """Return an item as it stands in addresses and anchors."""
    return slug(name.lower().replace("§", "section-").replace(".", ""))


def claims_by_place(findings: Sequence[Finding], chapters: Sequence[Chapter]) -> list[Item]:
    """Return the items of the paper that the book draws or judges, in the order of NUMBERED."""
    anchors = dict(_anchors(chapters))
    rows: dict[str, list[Finding]] = {
        f"Figure {name.partition('-')[2]}": [] for name in anchors if FIGURE.fullmatch(name)
    }
    for finding in findings:
        if finding.claim.kind in ("paper", "sharper", "erratum"):
            for name in items_of(finding.claim.source):
                rows.setdefault(name, []).append(finding)
    items = []
    for name in sorted(rows, key=_order):
        of_paper = [finding for finding in rows[name] if finding.claim.kind == "paper"]
        kinds = Counter(finding.claim.kind for finding in rows[name])
        place = _place(name, rows[name], anchors)
        items.append(Item(name, place, tally(of_paper), kinds["sharper"], kinds["erratum"]))
    return items


def verdict_matrix(findings: Sequence[Finding], chapters: Sequence[Chapter], up: str = "") -> str:
    """Return the matrix as a grid of links, each kind of item apart; `up` leads to the book."""
    groups: dict[str, list[Item]] = {}
    for item in claims_by_place(findings, chapters):
        kind = item.name.partition(" ")[0]
        _, group = NUMBERED.get(kind, ("", "Sections and appendices"))
        groups.setdefault(group, []).append(item)
    return render("matrix.html", groups=groups, up=up) if groups else ""


def verdicts_below(
    findings: Sequence[Finding], chapters: Sequence[Chapter], up: str = ""
) -> dict[str, str]:
    """Return the verdicts below each figure and statement that claims are about, by its anchor."""
    return {
        item.key: render("claims_about.html", item=item, up=up)
        for item in claims_by_place(findings, chapters)
        if item.counts or item.sharper or item.errata
    }


def verdict_table(
    findings: Sequence[Finding],
    chapters: Sequence[Chapter],
    records: Records,
    titles: Mapping[str, str],
) -> str:
    """Return all findings, folded by chapter, in the parts of the book with these titles."""
    parts: dict[str, list[tuple[Chapter, list[Finding]]]] = {}
    for chapter in chapters:
        part = titles.get(chapter.name.partition("/")[0], REST)
        if own_rows := [finding for finding in findings if finding.claim.chapter == chapter.name]:
            parts.setdefault(part, []).append((chapter, own_rows))
    questions = [
        (question.name, question.label, {word: text for word, (_, text) in question.words.items()})
        for question in records.questions
    ]
    given = {"questions": questions, "items": items, "tally": tally}
    return render("verdicts.md", parts=parts, records=records, **given)


def items(finding: Finding) -> str:
    """Return the keys of what a row about the paper names, a space between them."""
    if finding.claim.kind == "companion":
        return ""
    return " ".join(map(item_key, items_of(finding.claim.source)))


def tally(findings: Sequence[Finding]) -> dict[Verdict, int]:
    """Return how many findings have each verdict that occurs, in the order of verdicts."""
    counts = Counter(finding.verdict for finding in findings)
    return {verdict: counts[verdict] for verdict in get_args(Verdict) if counts[verdict]}


def results_table(findings: Sequence[Finding], *, up: str = "") -> str:
    """Return the new results among findings behind a fold, which says how they are judged."""
    new = [f for f in findings if f.claim.kind == "new" and f.measured is not None]
    counts = ", ".join(f"{n} {verdict}" for verdict, n in tally(new).items())
    return render("results.md", findings=new, told=counts, up=up)


def _anchors(chapters: Sequence[Chapter]) -> Iterator[tuple[str, str]]:
    """Yield each numbered anchor of the chapters, with the address that leads to it."""
    for chapter, cell in ((c, cell) for c in chapters for cell in c.notebook.cells):
        names = [figure_name(cell), *(a or b for a, b in ANCHOR.findall(cell.source))]
        for anchor in filter(None, names):
            yield anchor, f"{chapter.page}#{anchor}"


def _place(name: str, findings: Sequence[Finding], anchors: Mapping[str, str]) -> str:
    """Return where the book has an item: at its own anchor, or where its first row is measured."""
    if item_key(name) in anchors or not findings:
        return anchors[item_key(name)]
    claim = findings[0].claim
    page = f"{claim.chapter}.html"
    return f"{page}#{measure_anchor(claim.measure)}" if claim.measure else page


def _order(name: str) -> tuple[int, str]:
    """Return the place of an item in the matrix: kinds in order, sections before appendices."""
    place = next(place for place, kind in enumerate(ORDER) if name.startswith(kind))
    return place, name.removeprefix(ORDER[place]).strip().zfill(3)
