"""The paper on the results of part II as PDF: python -m tools.paper [profile].

LaTeX prints the sources in `paper/`. Their numbers and figures are those of the executed chapters:
`paper/numbers.yml` says which measure each number is, and how it is rounded.
"""

import math
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

import yaml

from bookbuild.errors import BookError
from bookbuild.reporting.measures import Measure
from bookbuild.results.executed import ExecutedChapter, find
from bookbuild.results.keys import chapter_key
from bookbuild.settings import BuildSettings
from bookbuild.source.book import read_citation
from chapters.beyond.every_position.enclosed import enclose_every
from chapters.beyond.every_position.never import gamma_bound, least_lift, sum_of_pushes
from chapters.beyond.full_flow import laws
from emergence.theory.limits import gauss

from .this_book import ROOT, chapters

SOURCES = ROOT / "paper"
PROGRAMS = ("latexmk", "pdflatex", "bibtex", "rsvg-convert")
COMPUTED = "computed"  # the source of numbers that no page reports
FIGURE = re.compile(r"\\bookfigure\{([^}]*)\}")
PARTS = {"min": min, "max": max, "mean": fmean}
ROUNDED = {"": round, "down": math.floor, "up": math.ceil}


def missing() -> str:
    """Return a sentence on the programs that this machine lacks, or nothing."""
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    packages = "texlive-latex-extra, texlive-fonts-recommended, lmodern, latexmk and librsvg2-bin"
    return f"The paper needs {', '.join(lacking)}; Debian's {packages} have it." if lacking else ""


def computed() -> dict[str, float]:
    """Return enclosures by the routines of the theorems, at the sizes of their page, and constants."""
    every, limit = enclose_every(256, cells=400), enclose_every(512, cells=400, many=True)
    ends = {"low": 0, "high": 1}
    return {
        **{f"every {k} beta": every.beta[i] for k, i in ends.items()},
        **{f"limit {k} alpha": limit.alpha[i] for k, i in ends.items()},
        **{f"limit {k} beta": limit.beta[i] for k, i in ends.items()},
        "pushes": sum_of_pushes().high,
        "lift": least_lift(gamma_bound(3)),
        "quick gamma": laws.quick_gamma(),
        "kappa": laws.log_law("alpha", "last").next,
        "last leading": laws.log_law("alpha", "last").leading,
        "uniform beta": laws.uniform_leading(0.5),
        "uniform alpha": laws.uniform_leading(1.0),
        "three alpha": 2 * gauss(1.0),
        "share": laws.uniform_leading(1.0) / (2 * gauss(1.0)),
        "curriculum": gauss(2.0),
    }


def reported(entry: ExecutedChapter) -> dict[str, float]:
    """Return numbers by key: of each measure, of each of its settings, and the bounds of checks."""
    found = {}
    for key, measure in entry.measures.items():
        whole = Measure.of(measure)
        for name, part in {key: whole, **{f"{key} {k}": v for k, v in whole.settings.items()}}.items():
            found |= {f"{name} {word}": of(part.atoms) for word, of in PARTS.items()}
        found |= {f"{key} {bound}": x for bound, x in measure.get("check", {}).items()}
    return found


def macros(numbers: Mapping[str, Mapping[str, float]]) -> str:
    """Return LaTeX that defines every number of the paper, given all numbers by source and name.

    Raises BookError for a number that its source does not have.
    """
    lines = []
    for name, (source, key, digits, *rounding) in listed().items():
        if key not in numbers[source]:
            raise BookError(f"The paper quotes {key!r}, which {source} does not report.")
        scaled = ROUNDED["".join(rounding)](numbers[source][key] * 10**digits)
        lines.append(rf"\definenumber{{{name}}}{{{scaled / 10**digits:.{digits}f}}}")
    return "\n".join(lines) + "\n"


def listed() -> dict[str, list]:
    """Return the source, the name in it, the digits and the rounding of each number."""
    return yaml.safe_load((SOURCES / "numbers.yml").read_text(encoding="utf-8"))


def figures() -> list[str]:
    """Return the figures that the sources include, as chapter/name."""
    return [name for path in sorted(SOURCES.glob("*.tex")) for name in FIGURE.findall(path.read_text("utf-8"))]


def typeset(folder: Path) -> Path:
    """Print the sources with the numbers and figures in a folder; return the PDF there.

    Raises BookError with the end of the log if LaTeX fails.
    """
    for path in (*SOURCES.glob("*.tex"), *SOURCES.glob("*.bib"), ROOT / "book" / "references.bib"):
        shutil.copy(path, folder)
    order = ["latexmk", "-pdf", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    run = subprocess.run(order, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        raise BookError(f"LaTeX failed:\n{run.stdout[-2000:]}")
    return folder / "paper.pdf"


def main(profile: str = "paper") -> None:
    """Write the paper; end with a sentence where a program or a chapter's results are missing."""
    if sentence := missing():
        raise BookError(sentence)
    settings = BuildSettings(root=ROOT, profile=profile)
    sources = {source for source, *_ in listed().values()} | {Path(f).parent.as_posix() for f in figures()}
    entries = {}
    for chapter in (chapter for chapter in chapters() if chapter.name in sources):
        entry, _ = find(settings, chapter_key(chapter, settings))
        if entry is None:
            raise BookError(f"The paper quotes {chapter.name}, which is not executed: run make reproduce first.")
        entries[chapter.name] = entry
    folder = settings.build / "tex"
    folder.mkdir(parents=True, exist_ok=True)
    numbers = {name: reported(entry) for name, entry in entries.items()} | {COMPUTED: computed()}
    cited = read_citation(ROOT)
    text = macros(numbers) + rf"\date{{Version {cited['version']}, {cited['date-released']}}}"
    (folder / "numbers.tex").write_text(text, encoding="utf-8")
    for name in figures():
        chapter, figure = Path(name).parent.as_posix(), Path(name).name
        drawing = entries[chapter].figures[f"{figure}.svg"]
        order = ["rsvg-convert", "--format=pdf", f"--output={folder / figure}.pdf"]
        subprocess.run(order, input=drawing, check=True)
    target = settings.build / "release" / "paper.pdf"
    target.parent.mkdir(exist_ok=True)
    shutil.copy(typeset(folder), target)
    print(f"The paper is {target.relative_to(ROOT)}.")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except BookError as error:
        sys.exit(str(error))
