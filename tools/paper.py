"""The paper on the results of part II as PDF: python -m tools.paper [profile].

LaTeX prints the sources in `paper/`. Their numbers and figures are those of the executed chapters:
`paper/numbers.yml` says which measure each number is, and how it is rounded.
"""

import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean

import yaml

from bookbuild.errors import BookError
from bookbuild.reporting.measures import Measure
from bookbuild.results.executed import ExecutedChapter, find
from bookbuild.results.keys import chapter_key
from bookbuild.settings import BuildSettings
from bookbuild.source.book import read_citation
from chapters.beyond.every_position import never
from chapters.beyond.every_position.enclosed import enclose_every
from chapters.beyond.full_flow import laws
from emergence.proofs import tubes
from emergence.theory.limits import gauss

from .this_book import ROOT, chapters

PAPER, LISTED = ROOT / "paper", ROOT / "src" / "chapters" / "beyond"
SOURCES = sorted(PAPER.glob("*.tex"))
LIBRARIES = (ROOT / "book" / "references.bib", PAPER / "more.bib")
PROGRAMS = ("latexmk", "pdflatex", "bibtex", "rsvg-convert")
PACKAGES = "texlive-latex-extra, texlive-fonts-recommended, lmodern, latexmk and librsvg2-bin"
NUMBERS = yaml.safe_load((PAPER / "numbers.yml").read_text(encoding="utf-8"))
FIGURES = re.findall(r"\\bookfigure\{([\w/-]+)\}", "".join(map(Path.read_text, SOURCES)))
PARTS: dict[str, Callable[[list], float]] = {"min": min, "max": max, "mean": fmean}
ROUNDED: dict[str, Callable[[float], int]] = {"": round, "down": math.floor, "up": math.ceil}


def missing() -> str:
    """Return a sentence on the programs that this machine lacks, or nothing."""
    lacking = ", ".join(name for name in PROGRAMS if shutil.which(name) is None)
    return lacking and f"The paper needs {lacking}, which Debian has in {PACKAGES}."


def computed() -> dict[str, float]:
    """Return what no page reports: enclosures at the sizes of their page, and constants."""
    every, limit = enclose_every(256, cells=400), enclose_every(512, cells=400, many=True)
    strict, causal = tubes.limit_times("strict", 4000), tubes.limit_times("causal", 9000)
    intervals = {
        "every beta": every.beta,
        "limit alpha": limit.alpha,
        "limit beta": limit.beta,
        "strict alpha": strict.alpha,
        "strict beta": strict.beta,
        "causal alpha": causal.alpha,
        "causal beta": causal.beta,
    }
    return {
        **{f"{name} low": low for name, (low, _) in intervals.items()},
        **{f"{name} high": high for name, (_, high) in intervals.items()},
        "pushes": never.sum_of_pushes().high,
        "lift": never.least_lift(never.gamma_bound(3)),
        "quick gamma": laws.quick_gamma(),
        "kappa": laws.log_law("alpha", "last").next,
        "any beta": laws.uniform_leading(0.5),
        "any alpha": laws.uniform_leading(1.0),
        "three alpha": 2 * gauss(1.0),
        "share": laws.uniform_leading(1.0) / (2 * gauss(1.0)),
        "curriculum": gauss(2.0),
    }


def reported(entry: ExecutedChapter) -> dict[str, float]:
    """Return numbers by key: of each measure, of each of its settings, and the bounds of checks."""
    found: dict[str, float] = {}
    for key, measure in entry.measures.items():
        whole = Measure.of(measure)
        parts = {key: whole} | {f"{key} {name}": part for name, part in whole.settings.items()}
        for name, part in parts.items():
            found |= {f"{name} {word}": of(part.atoms) for word, of in PARTS.items()}
        found |= {f"{key} {bound}": value for bound, value in measure.get("check", {}).items()}
    return found


def macros(numbers: Mapping[str, Mapping[str, float]]) -> str:
    """Return LaTeX that defines all of `NUMBERS`, given numbers by source and key.

    Raises BookError for a number that its source does not have.
    """
    lines = []
    for name, (source, key, digits, *rounding) in NUMBERS.items():
        if key not in numbers[source]:
            raise BookError(f"The paper quotes {key!r}, which {source} does not report.")
        text, value = r"\infty", numbers[source][key] * 10**digits
        if math.isfinite(value):  # what never ends in a smoke run prints too
            text = f"{ROUNDED[''.join(rounding)](value) / 10**digits:.{digits}f}"
        lines.append(rf"\definenumber{{{name}}}{{{text}}}")
    return "\n".join(lines)


def typeset(folder: Path, numbers: str) -> Path:
    """Return the PDF of the sources, from macros and a folder with figures.

    Raises BookError with the end of what LaTeX says if it fails.
    """
    cited = read_citation(ROOT)
    date = rf"\date{{Version {cited['version']}, {cited['date-released']}}}"
    (folder / "numbers.tex").write_text(f"{numbers}\n{date}\n", encoding="utf-8")
    works = "\n".join(path.read_text(encoding="utf-8") for path in LIBRARIES)
    # the style of BibTeX knows no field for the number of a preprint
    works = works.replace("eprint={", "howpublished={arXiv:")
    (folder / "works.bib").write_text(works, encoding="utf-8")
    run = subprocess.run(
        ["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", str(PAPER / "paper.tex")],
        env=os.environ | {"TEXINPUTS": f"{PAPER}:{LISTED}:"},
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        raise BookError(f"LaTeX failed:\n{run.stdout[-2000:]}")
    return folder / "paper.pdf"


def main(profile: str = "paper") -> None:
    """Write the paper; end with a sentence where a program or a chapter's results are missing."""
    if lacking := missing():
        raise BookError(lacking)
    settings = BuildSettings(root=ROOT, profile=profile)
    quoted = {source for source, *_ in NUMBERS.values()} | {str(Path(x).parent) for x in FIGURES}
    entries = {}
    for chapter in (chapter for chapter in chapters() if chapter.name in quoted):
        entry, _ = find(settings, chapter_key(chapter, settings))
        if entry is None:
            raise BookError(f"The paper quotes {chapter.name}: run make reproduce first.")
        entries[chapter.name] = entry
    folder, target = settings.build / "tex", settings.build / "release" / "paper.pdf"
    for place in (folder, target.parent):
        place.mkdir(parents=True, exist_ok=True)
    for path in map(Path, FIGURES):
        order = ["rsvg-convert", "--format=pdf", f"--output={folder / path.name}.pdf"]
        drawing = entries[str(path.parent)].figures[f"{path.name}.svg"]
        subprocess.run(order, input=drawing, check=True)
    numbers = {name: reported(entry) for name, entry in entries.items()}
    shutil.copy(typeset(folder, macros(numbers | {"computed": computed()})), target)
    print(f"The paper is {target.relative_to(ROOT)}.")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except BookError as error:
        sys.exit(str(error))
