"""The functions a chapter calls: they report a number, check one, and show a figure."""

import html
import json
import math
import os
import re
import sys
import time
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import provenance
from .expectations import Check, read_expectation
from .expressions import NO_NUMBER, powers
from .measures import Measure, plain_measure, write_measures

OUTPUT = "BOOKBUILD_OUTPUT"
FIGURES_URL = "BOOKBUILD_FIGURES_URL"
SALT = "BOOKBUILD_SALT"  # the text that the ids inside drawings are derived from
INTERACTIVE_OUTPUT = "_build/interactive"
MEASURES_FILE = "measures.json"
FIGURES_FOLDER = "figures"
FOLD_OPENING = '<details class="provenance">'
ABOUT = "bookbuild"  # the field of an output's metadata that says what it shows
LEAST_ALT = 20  # characters; a shorter text cannot state a finding
KEY = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
FOR_PHONES = "_narrow"  # ends the name of a drawing whose panels are below one another
FIGURE_NAME = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")
MARKS = ("_toc.yml", "_config.yml")  # of the root of a book
LEDGER = Path("data/claims.yml")
Row = tuple[str, str, str, str]  # a measure, the id of a row about it, its bound and its verdict


_measures: dict[str, dict[str, Any]] = {}
_last_figure = time.monotonic()


def report(**measures: Any) -> None:
    """Record measured numbers under names unique in the book, and show them in a table.

    Args:
        measures: what was measured, by name. A number or a truth value is one; a pair (low, high)
            is an interval; a list or an array has one number a seed; a mapping has, for the name
            of each setting, a number, a truth value or a list of either, one a seed. Infinity is
            a number here: the time of a run that never gets there.

    Raises:
        ValueError: for a malformed or repeated name, or a value that is none of these.

    Example:
        >>> report(final_loss=[0.01, 0.02], exponent=(-0.52, -0.49), diverges=True)
    """
    for name, value in measures.items():
        _record(name, value)
    _write_measures()
    recorded = {name: _measures[name] for name in measures}
    # a build judges the rows when all chapters have been executed
    rows = [] if OUTPUT in os.environ else rows_about(recorded, judged=_judged())
    _display(reported_table(recorded, rows), measures=list(measures))


def rows_about(measures: Mapping[str, Mapping[str, Any]], *, judged: bool) -> list[Row]:
    """Return the ledger's rows about measures; none where there is no ledger."""
    import yaml

    if not LEDGER.is_file():
        return []
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    rows = yaml.load(LEDGER.read_text(encoding="utf-8"), loader)
    about: list[Row] = []
    for row in (row for row in rows if row.get("measure") in measures):
        expected, measured = read_expectation(row["expect"]), Measure.of(measures[row["measure"]])
        verdict = expected.verdict(measured) if judged else "not judged"
        about.append((row["measure"], row["id"], str(expected), verdict))
    return about


def reported_table(measures: Mapping[str, Mapping[str, Any]], rows: Sequence[Row]) -> str:
    """Return measures as a table in HTML, with the ledger's rows about them."""
    lines = []
    for name, measure in measures.items():
        value = html.escape(str(Measure.of(measure)))
        about = [row[1:] for row in rows if row[0] == name] or [("", "", "")]
        for number, row in enumerate(about):
            cells = (*((name, value) if not number else ("", "")), *(row if rows else ()))
            lines.append("".join(f"<td>{cell}</td>" for cell in cells))
    heads = ("measure", "value", *(("claim", "expected", "verdict") if rows else ()))
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table class="report"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def check(what: str, value: Any, **bound: Any) -> None:
    """Hold a number against a bound, and say below the cell whether it is kept.

    Args:
        what: the number in words, such as "loss at the end".
        value: the number, or several, as for `report`.
        bound: one of at_most=, at_least=, within=(low, high), contains= and holds=True.

    Raises:
        ValueError: for a bound that does not fit the number, and whatever `report` refuses.

    Example:
        >>> check("loss at the end", 0.004, at_most=0.01)
    """
    name = "_".join(["check", *re.findall("[a-z0-9]+", _spelled(what))])
    _record(name, value)
    bounds = {form: list(b) if isinstance(b, tuple) else b for form, b in bound.items()}
    measure = _measures[name] | {"check": {"what": what, **bounds}}
    checked = Check.of(measure, judged=_judged())  # bounds are about the paper's sizes
    _measures[name] = measure
    _write_measures()
    _display(checked.line(), measures=[name], check=True)


def _spelled(text: str) -> str:
    """Return a text in small letters of ASCII; Greek letters and minus signs by their names."""
    letters = []
    for letter in unicodedata.normalize("NFKD", text.replace("−", " minus ")):
        name = unicodedata.name(letter, "")
        letters.append(f" {name.split()[-1]} " if name.startswith("GREEK") else letter)
    return "".join(letters).lower()


def _record(name: str, value: Any) -> None:
    """Note a measure; a reader who runs a cell again corrects one, a build reports each once."""
    if not KEY.fullmatch(name):
        raise ValueError(f"measure {name!r} is not lower-case snake_case")
    if name in _measures and OUTPUT in os.environ:
        raise ValueError(f"measure {name!r} is reported twice in this chapter")
    plain, over = plain_measure(name, value)
    _measures[name] = {"value": plain, "over": over}


def _judged() -> bool:
    """Return whether the notebook runs at the sizes of the paper, with its settings."""
    names = getattr(notebook_shell(), "user_ns", {})
    return names.get("profile") == "paper" and not names.get("settings")


def _display(text: str, **about: Any) -> None:
    if notebook_shell():
        from IPython.display import HTML, display

        display(HTML(text), metadata={ABOUT: about})


def show(
    figure: Any,
    name: str,
    *,
    caption: str,
    alt: str,
    data: Mapping[str, Any] | None = None,
    preset: object = None,
    seeds: Iterable[int] = (),
) -> None:
    """Display a figure with its caption and what made it, save it and its data, and close it.

    It is drawn twice, to fit the column of a page and a phone; the former is displayed.

    Args:
        figure: a figure of Matplotlib.
        name: the name of its files, and its anchor on the page.
        caption: what to see, then what is shown, in Markdown.
        alt: the finding in words, for who does not see the figure.
        data: what is drawn, by name, to be downloaded.
        preset: the settings behind it, a dataclass or a mapping.
        seeds: the seeds behind it.

    Raises:
        ValueError: for a name that cannot be a file name, or an alt text that states no finding.
        TypeError: for a preset that is neither a dataclass nor a mapping.
    """
    from IPython.display import HTML, display
    from matplotlib import pyplot

    from . import drawing

    global _last_figure
    if not FIGURE_NAME.fullmatch(name) or name.endswith(FOR_PHONES):
        raise ValueError(f"figure name {name!r} is not made of lower-case words, digits, - and _")
    alt, caption = (powers(" ".join(text.split())) for text in (alt, caption))
    if len(alt) < LEAST_ALT:
        raise ValueError(f"the alt text of {name!r} does not state its finding: {alt!r}")
    if found := NO_NUMBER.search(f"{caption} {alt}"):
        raise ValueError(f"the caption or alt text of {name!r} says {found[0]!r}: say what then")
    now = time.monotonic()
    settings = _settings(preset, seeds, seconds=now - _last_figure)
    _last_figure = now
    folder = _output() / FIGURES_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    faults = []
    with pyplot.rc_context({"svg.hashsalt": os.environ.get(SALT) or "bookbuild"}):
        for fitted, ending in ((drawing.fit, ""), (drawing.stack, FOR_PHONES)):
            fitted(figure)
            path = folder / f"{name}{ending}.svg"
            figure.savefig(path, metadata={"Date": None}, transparent=True)
            faults += [f"{path.name}: {fault}" for fault in drawing.misplaced(figure)]
    arrays = {str(key): _plain_array(value) for key, value in (data or {}).items()}
    document = {"figure": name, "settings": settings, "data": arrays, "faults": faults}
    (folder / f"{name}.json").write_text(json.dumps(document) + "\n", encoding="utf-8")
    svg = (folder / f"{name}.svg").read_text(encoding="utf-8")
    drawn = {"image/svg+xml": svg, "text/plain": f"<figure {name}>"}
    display(drawn, raw=True, metadata={ABOUT: {"figure": name, "alt": alt}})
    text = {"text/markdown": caption, "text/plain": caption}
    display(text, raw=True, metadata={ABOUT: {"caption": name}})
    display(HTML(_provenance_fold(name, settings)))
    pyplot.close(figure)


def _write_measures() -> None:
    path = _output() / MEASURES_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(write_measures(_measures), encoding="utf-8")


def notebook_shell() -> Any:
    """Return the notebook's IPython; None in a plain Python."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def _output() -> Path:
    return Path(os.environ.get(OUTPUT, INTERACTIVE_OUTPUT))


def _plain_array(value: Any) -> Any:
    """Return nested lists, numbers rounded to nine significant digits, None where not finite."""
    import numpy as np

    if hasattr(value, "detach"):
        value = value.detach().cpu().numpy()
    return _rounded(np.asarray(value).tolist())


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else None
    return value


def _settings(preset: object, seeds: Iterable[int], *, seconds: float) -> dict[str, Any]:
    return {
        "commit": provenance.commit(),
        "preset": None if preset is None else type(preset).__name__,
        "preset_fields": provenance.preset_fields(preset),
        "seeds": [int(seed) for seed in seeds],
        "device": provenance.device(),
        "versions": provenance.versions(),
        "seconds": round(seconds, 1),
    }


def _provenance_fold(name: str, settings: dict[str, Any]) -> str:
    fields = ", ".join(f"{key}={value}" for key, value in settings["preset_fields"].items())
    rows = {
        "commit": settings["commit"],
        "preset": f"{settings['preset']}({fields})" if settings["preset"] else "",
        "seeds": ", ".join(map(str, settings["seeds"])),
        "device": settings["device"],
        "versions": ", ".join(f"{key} {value}" for key, value in settings["versions"].items()),
        "wall time": f"{settings['seconds']:.1f} s",
    }
    items = [f"<dt>{key}</dt><dd>{html.escape(value)}</dd>" for key, value in rows.items() if value]
    if url := os.environ.get(FIGURES_URL):
        kinds = ("json", "svg")
        links = [f'<a href="{url}/{name}.{kind}" download>{kind.upper()}</a>' for kind in kinds]
        items.append(f"<dt>download</dt><dd>{' · '.join(links)}</dd>")
    summary = "<summary>How this figure was made</summary>"
    return f"{FOLD_OPENING}{summary}<dl>{''.join(items)}</dl></details>"


def enter_root() -> None:
    """Enter the root of the book and find its packages, in IPython alone.

    A reader's kernel begins in the folder of its notebook. A build's begins where it should.
    """
    here = Path.cwd()
    if notebook_shell() is None or OUTPUT in os.environ or _is_root(here):
        return
    if root := next(filter(_is_root, here.parents), None):
        os.chdir(root)
        sys.path.insert(0, str(root / "src"))


def _is_root(folder: Path) -> bool:
    return all((folder / mark).is_file() for mark in MARKS)
