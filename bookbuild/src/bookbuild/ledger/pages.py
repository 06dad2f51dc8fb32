"""The verdicts as MyST: a matrix by figure and theorem, all rows, and other machines."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from bookbuild.source.chapters import Chapter, figure_name

from .claims import Claim, Finding, Verdict
from .records import Records
from .templates import measure_anchor, render, slug

# What the paper numbers, in the order of the matrix, with what stands for it in a source.
NUMBERED = {
    "Figure": r"Figs?\.",
    "Theorem": r"Theorems?",
    "Corollary": r"Corollar(?:y|ies)",
    "Hypothesis": r"Hypothes[ie]s",
    "Definition": r"Definitions?",
    "Assumption": r"Assumptions?",
    "Proposition": r"Propositions?",
}
NUMBERS = r"(?:\d+(?:-\d+)?(?:, | and )?)+"
# What a source names else: the section of the paper, or the group of its equations.
PLACES = {
    "§{}": re.compile(r"§(\d+)"),
    "Appendix {}": re.compile(r"(?:App\. |\b)([A-F])\b\.?"),
    "Eq. {}": re.compile(r"\bEq\. (\d+)"),
}
REST = "Other pages"
FIGURE = re.compile(r"figure-\d+")
ANCHOR = re.compile(r"^(?:\(([a-z]+-\d+)\)=|:label: ([a-z]+-\d+))$", re.MULTILINE)


@dataclass(frozen=True)
class Item:
    """A figure, a theorem or a section of the paper, with the rows about it.

    `href` leads to where the book has it, from the page of verdicts. `counts` says how many claims
    of the paper have each verdict; errata are counted apart.
    """

    name: str
    href: str
    counts: Mapping[Verdict, int]
    errata: int

    @property
    def key(self) -> str:
        """The item as it stands in addresses: figure-4."""
        return item_key(self.name)


def items_of(source: str) -> list[str]:
    """Return what the source of a row names: its figures and theorems, else its section.

    A source is what the ledger says of where in the paper a claim stands, such as "§5, Fig. 4".
    """
    named = [
        f"{kind} {number}"
        for kind, pattern in NUMBERED.items()
        for numbers in re.findall(rf"\b{pattern} ({NUMBERS})(?![.\d])", source)
        for number in _each(numbers)
    ]
    if named:
        return named
    for form, pattern in PLACES.items():
        if found := pattern.search(source):
            return [form.format(found[1])]
    return []


def item_key(name: str) -> str:
    """Return an item as it stands in addresses and anchors."""
    return slug(name.lower().replace("§", "section-").replace(".", ""))


def matrix(findings: Sequence[Finding], chapters: Sequence[Chapter]) -> list[Item]:
    """Return a row for each figure, theorem and section of the paper, in the order of NUMBERED.

    A figure of the paper that a chapter draws has a row even if the ledger has no claim about it.
    """
    anchors = dict(_anchors(chapters))
    rows: dict[str, list[Finding]] = {
        f"Figure {name.partition('-')[2]}": [] for name in anchors if FIGURE.fullmatch(name)
    }
    for finding in findings:
        if finding.claim.kind in ("paper", "erratum"):
            for name in items_of(finding.claim.source):
                rows.setdefault(name, []).append(finding)
    return [
        Item(name, _place(name, rows[name], anchors), *_counted(rows[name]))
        for name in sorted(rows, key=_order)
    ]


def verdict_matrix(findings: Sequence[Finding], chapters: Sequence[Chapter], up: str = "") -> str:
    """Return the matrix as a grid of links, each kind of item apart; `up` leads to the book."""
    groups: dict[str, list[Item]] = {}
    for item in matrix(findings, chapters):
        kind = item.name.partition(" ")[0]
        groups.setdefault(_GROUPS.get(kind, "Sections and appendices"), []).append(item)
    return render("matrix.html", groups=groups, up=up) if groups else ""


def verdicts_below(
    findings: Sequence[Finding], chapters: Sequence[Chapter], up: str = ""
) -> dict[str, str]:
    """Return the line below each figure and statement of the paper: its verdicts, by its anchor.

    `up` leads to the book. What no claim is about has no line.
    """
    return {
        item.key: render("claims_about.html", item=item, up=up)
        for item in matrix(findings, chapters)
        if item.counts or item.errata
    }


def verdict_table(
    findings: Sequence[Finding],
    chapters: Sequence[Chapter],
    records: Records,
    titles: Mapping[str, str],
) -> str:
    """Return all findings, folded by chapter, in the order of the book.

    `titles` are those of the book's parts, by their folders.
    """
    parts: dict[str, list[tuple[Chapter, list[Finding]]]] = {}
    for chapter in chapters:
        found = [finding for finding in findings if finding.claim.chapter == chapter.name]
        part = chapter.name.partition("/")[0]
        if found:
            parts.setdefault(titles.get(part, REST), []).append((chapter, found))
    given = {"records": records, "items": items, "tally": tally}
    return render("verdicts.md", parts=parts, **given)


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
    """Return the new results among findings behind a fold, which says how they are judged.

    `up` leads to the book's root.
    """
    new = [f for f in findings if f.claim.kind == "new" and f.measured is not None]
    told = ", ".join(f"{n} {verdict}" for verdict, n in tally(new).items())
    return render("results.md", findings=new, told=told, up=up)


def machines_table(findings: Sequence[Finding], records: Records) -> str:
    """Return for each of them how many verdicts are those of this build, and the rows that differ.

    Verdicts are those of one execution each: what other seeds or roundings say lowers none of them.
    """
    known: dict[str, dict[str, Verdict]] = {}
    own: list[tuple[Claim, Verdict]] = []
    for finding in findings:
        found = records.evidence.get(finding.claim.id)
        if found is None:
            continue
        own.append((finding.claim, found.seeds.own))
        for rerun in (*found.rounding.reruns, *found.others.reruns):
            if rerun.verdict is not None:
                known.setdefault(rerun.variation, {})[finding.claim.id] = rerun.verdict
    differing = [
        (claim, verdict, [of.get(claim.id) for of in known.values()])
        for claim, verdict in own
        if any(of.get(claim.id, verdict) != verdict for of in known.values())
    ]
    counts = []
    for name, of in known.items():
        both = [(of[claim.id], verdict) for claim, verdict in own if claim.id in of]
        counts.append((name, len(both), sum(there == here for there, here in both)))
    return render("machines.html", counts=counts, differing=differing)


_GROUPS = {
    "Figure": "Figures",
    **dict.fromkeys(
        ("Theorem", "Corollary", "Hypothesis", "Proposition"), "Theorems and hypotheses"
    ),
    **dict.fromkeys(("Definition", "Assumption"), "Definitions and assumptions"),
}


def _each(numbers: str) -> Iterator[int]:
    """Yield the numbers that a text lists: "6-8", "3, 7" or "1 and 2"."""
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", numbers):
        yield from range(int(first), int(last or first) + 1)


def _anchors(chapters: Sequence[Chapter]) -> Iterator[tuple[str, str]]:
    """Yield each numbered anchor of the chapters, with the address that leads to it."""
    for chapter in chapters:
        for cell in chapter.notebook.cells:
            found = [a or b for a, b in ANCHOR.findall(cell.source)]
            for anchor in (figure_name(cell), *found):
                if anchor:
                    yield anchor, f"{chapter.page}#{anchor}"


def _place(name: str, findings: Sequence[Finding], anchors: Mapping[str, str]) -> str:
    """Return where the book has an item: at its own anchor, or where its first row is measured."""
    if item_key(name) in anchors or not findings:
        return anchors[item_key(name)]
    claim = findings[0].claim
    page = f"{claim.chapter}.html"
    return f"{page}#{measure_anchor(claim.measure)}" if claim.measure else page


def _counted(findings: Sequence[Finding]) -> tuple[Mapping[Verdict, int], int]:
    of_paper = [finding for finding in findings if finding.claim.kind == "paper"]
    return tally(of_paper), len(findings) - len(of_paper)


def _order(name: str) -> tuple[int, str, int]:
    """Return the place of an item in the matrix: kinds in order, sections before appendices."""
    kind, _, number = name.partition(" ")
    kinds = [*NUMBERED, "§", "Appendix", "Eq."]
    if name.startswith("§"):
        kind, number = "§", name.removeprefix("§")
    return (
        kinds.index(kind),
        "" if number.isdecimal() else number,
        int(number.isdecimal() and number),
    )
