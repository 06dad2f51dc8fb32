"""Slips planted in the sources of a book: each is told at its line before anything is executed."""

import re
import time
from typing import NamedTuple

import pytest

from bookbuild.errors import BookError
from bookbuild.site.lint import check_book

MORE = """
(slopes)=
## Slopes

$$y = x^2$$ (parabola)

By {eq}`parabola`, {ref}`this part <slopes>`, [this](#slopes), [the square](../beyond/01_square.md),
its [figure](#fig-square), {prf:ref}`squares-are-positive` {cite:t}`paper`, {verdict}`line-slope`.

```{concluded} line-slope square-of-three
reproduced: It holds.
contradicted: It does not, as {cite}`paper,paper` says.
```

:::{admonition} {prf:ref}`squares-are-positive`: a role in a title
The block ends below.
:::

```{code-cell} ipython3
:tags: [hide-input]

from bookbuild import check
twice = [2 * s for s in slope]
check("twice the slope", twice, at_least=2)
```

In all {eval}`len(twice)` and {eval}`max(s for s in twice)`, with {glue:text}`slope_max:.1f`.
"""
LINE, TOC, CLAIMS, CITED = "book/paper/01_line.md", "_toc.yml", "data/claims.yml", "CITATION.cff"
INDEX, DRAWN = "book/index.md", "{figure} _generated/figures/beyond/01_square/fig-square.svg"
SQUARE, CONFIG, YAML = "book/beyond/01_square.md", "_config.yml", (TOC, CLAIMS, CITED)
KEY = r"^ *(?:- )?([\w-]+):(?= |$)"
# what is misspelled, by an x at the end of each place: the kind, the files, and where it stands
MISSPELLED = (
    ("field", YAML, KEY),
    (
        "front matter",
        (LINE, SQUARE),
        r"^ *(\w+):(?= |$)",
    ),
    ("page", (TOC,), r"(book/\S+)$"),
    ("chapter", (CLAIMS,), r"chapter: (\S+)$"),
    ("kind", (CLAIMS,), r"kind: (\S+)$"),
    ("measure", (CLAIMS,), r"measure: (\S+)$"),
    ("form", (CLAIMS,), r"expect: {(\w+)"),
    ("data", (LINE,), r"\[(data/[\w.]+)\]"),
    ("label", (LINE, SQUARE), r"(?:{eq}`|{prf:ref}`|<|\]\(#)([\w-]+)"),
    ("link", (LINE, "book/index.md"), r"\]\(([./\w]+\.md)"),
    ("work", (LINE,), r"{cite(?::t)?}`(paper)"),
    ("row", (LINE,), r"{(?:verdict}`|concluded} )([\w-]+)"),
    ("verdict", (LINE,), r"^(reproduced|contradicted): "),
    ("number", (LINE,), r"{glue:text}`(\w+)"),
    ("form of a number", (LINE,), r"{glue:text}`\w+:([.\w]+)`"),
    ("expression", (LINE,), r"{eval}`[^`]*?\b(slope|len|max|twice)\b"),
    ("role", (LINE, SQUARE), r"{(eq|ref|prf:ref|cite:t|cite|verdict|eval|glue:text)}`"),
    ("tag", (LINE, SQUARE), r"^:tags: \[(?:parameters, )?([\w-]+)\]"),
    ("parameter", (LINE, SQUARE), r"^(profile|device|seed) ="),
    ("code", (LINE, SQUARE), r"(?<![`\[])\b(points|xs|twice|slope)(?=[,()]| for)"),
    ("figure's texts", (SQUARE,), r"^ +(caption|alt)="),
    ("included", (LINE, SQUARE, "book/index.md"), r"{figure} (\S+)\.svg"),
)
OTHER = (  # other slips: the file, what stands there, and what is planted, with | between
    (TOC, "root: book/index", "root: [a]|root:|root: &a [*a]|root: ''"),
    (TOC, "    chapters:\n", "    chapter:\n|    chapters: *a\n|\tchapters:\n"),
    (TOC, "format: jb-book", "format: jb-article|format: [|"),
    (CITED, "2026-11-29", "soon|2026-13-01|26|[]"),
    (CITED, "year: 2025", "year: in press|year: 20255|year: '2025'|year:"),
    (CITED, '"https://arxiv.org', '"javascript://arxiv.org|"ftp://arxiv.org|"//arxiv.org|"arxiv'),
    (CITED, "license: MIT", "license: [MIT]|license:|licence: MIT"),
    (CITED, '- name: "The contributors"', "- name: 5|- family-names: A|- alias: A"),
    (CLAIMS, "{within: [1.99, 2.01]}", "{within: [2.01, 1.99]}|{within: 2}|{}|2"),
    (CLAIMS, "{at_most: 8}", "{at_most: .inf}|{at_most: x}|[8]|{at_most: 8, at_least: 7}"),
    (CLAIMS, "id: square-of-three", "id: line-slope|id: Square|id: a b|id: 5"),
    (LINE, "{eval}`len(twice)`", "{eval}`len(twice`|{eval}`1, 2`|{eval}`for`|{eval}`lost`"),
    (LINE, "(slopes)=", "(squares-grow)=|(parabola)="),
    (LINE, "# A line", "## A line|A line|#A line"),
    (
        LINE,
        "twice = [2 * s",
        "twice = [2 * |report(slope=1); twice = [|report(a=1); twice = [2 * s",
    ),
    (
        LINE,
        "twice = [2 * s",
        "report(A=1); twice = [2 * s|report(square_of_three=1); twice = [2 * s",
    ),
    (LINE, "[hide-input]\n", "[hide-input\n"),
    (LINE, "](#fig-square)", "](javascript:alert)|](#)|]()"),
    (SQUARE, '    fig, "fig-square"', '    fig, "Fig square"|    fig, name'),
    (SQUARE, "```{prf:proof}\nMultiply by $x$.\n```", "```{prf:proof}\nMultiply by $x$."),
    # what Sphinx alone knows, and would tell when all is executed
    (LINE, "## Slopes", "#### Slopes|# Slopes|```pythn\nx\n```"),
    (LINE, "{eq}`parabola`", "{eq}`slopes`|{doc}`lost`|{term}`lost`|{download}`x.zip`|{{ lost }}"),
    (LINE, "{eq}`parabola`", "{ref}`parabola`|{numref}`slopes`|{prf:ref}`slopes`"),
    (LINE, "In all", "```{note}\n```\n|```{toctree}\nx\n```\n|```{list-table}\n- a\n```\n"),
    (SQUARE, "{prf:proof}", "{prf:prof}"),
    (INDEX, DRAWN, f"{{figure}}|{DRAWN.replace('figure}', 'figur}')}|{DRAWN}\n:atl: x"),
    (INDEX, "verdict_summary.md", "verdict_sumary.md"),
    (TOC, "  - caption: The paper", "  - numbered: x\n    caption: The paper"),
    ("book/references.bib", "title={A}, ", "title={A} "),
)


class Slip(NamedTuple):
    """A slip: its kind, its file, the whole text of the file with it, and the lines it is on."""

    kind: str
    file: str
    text: str
    lines: range


def planted(read):
    """All slips of a book, whose files a function reads."""
    for kind, files, pattern in MISSPELLED:
        for file in files:
            text = read(file)
            for match in re.finditer(pattern, text, re.MULTILINE):
                line = text[: match.end(1)].count("\n") + 1
                changed = f"{text[: match.end(1)]}x{text[match.end(1) :]}"
                yield Slip(kind, file, changed, range(line, line + 1))
    for file, old, new in ((file, old, new) for file, old, x in OTHER for new in x.split("|")):
        text = read(file)
        line, more = text[: text.index(old)].count("\n") + 1, max(old.count("\n"), 1)
        yield Slip(
            f"{old[:20]} {new[:20]}", file, text.replace(old, new, 1), range(line, line + more)
        )
    for file in (*YAML, CONFIG, LINE, SQUARE):
        text = read(file)
        until = text.index("\n---\n") if file.endswith(".md") else len(text)
        for match in re.finditer(r"^( *)(- )?([\w-]+: ?\S.*)\n", text[:until], re.MULTILINE):
            again = f"{match[1]}{'  ' if match[2] else ''}{match[3]}\n"
            line = text[: match.end()].count("\n") + 1
            changed = text[: match.end()] + again + text[match.end() :]
            yield Slip("doubled", file, changed, range(line, line + 1))


@pytest.fixture
def book(unbuilt):
    """The toy book with a part that uses more of the builder."""
    with (unbuilt.root / LINE).open("a", encoding="utf-8") as stream:
        stream.write(MORE)
    work = "@misc{paper, title={A}, author={B}, year={2025}}\n"
    (unbuilt.root / "book/references.bib").write_text(work, encoding="utf-8")
    return unbuilt


@pytest.mark.slow("hundreds of slips")
def test_slips_are_told_in_one_sentence_with_file_and_line(book):
    check_book(book.root)
    slips = [*planted(lambda file: (book.root / file).read_text(encoding="utf-8"))]
    assert len(slips) >= 300
    assert {slip.kind for slip in slips} >= {kind for kind, _, _ in MISSPELLED}
    missed, slowest = [], 0.0
    for slip in slips:
        path, before = book.root / slip.file, time.process_time()
        text = path.read_text(encoding="utf-8")
        path.write_text(slip.text, encoding="utf-8")
        said = ()
        try:
            check_book(book.root)
        except BookError as error:
            said = error.problems
        path.write_text(text, encoding="utf-8")
        slowest = max(slowest, time.process_time() - before)
        at = "|".join(f"{slip.file}, line {line}\\b" for line in slip.lines)
        if not any(re.search(at, sentence) and sentence[-1] == "." for sentence in said):
            missed.append((slip.kind, at, said[:3]))
    assert not missed
    assert slowest < 10
