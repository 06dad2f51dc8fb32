"""The functions a chapter calls: they report a number, check one, and show a figure."""

import html
import json
import math
import os
import re
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from . import drawing, provenance
from .expectations import Check
from .measures import Over, glued, plain_measure, write_measures

OUTPUT = "BOOKBUILD_OUTPUT"
FIGURES_URL = "BOOKBUILD_FIGURES_URL"
SALT = "BOOKBUILD_SALT"  # the text that the ids inside drawings are derived from
INTERACTIVE_OUTPUT = "_build/interactive"
MEASURES_FILE = "measures.json"
FIGURES_FOLDER = "figures"
FOLD_OPENING = '<details class="provenance">'
KEY = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
FOR_PHONES = "_narrow"  # ends the name of a drawing whose panels are below one another
FIGURE_NAME = re.compile(r"[a-z0-9]+([_-][a-z0-9]+)*")


_measures: dict[str, dict[str, Any]] = {}
_last_figure = time.monotonic()


def report(key: str, value: Any, *, over: Over | None = None, judged: bool = True) -> None:
    """Record a measured number under a key unique in the book, and glue it for the prose.

    The value is a number or a boolean, one number a seed (over="seeds"), a pair low, high
    (over="interval"), or a mapping from the name of each setting to a number, a boolean or a list
    of either, one a seed (over="settings"). judged=False says that the ledger has no claim about
    it; so does a check. Infinity is a number here: the time of a run that never gets there. Raises
    ValueError for a malformed or repeated key, a value that is not a number or one that does not
    fit `over`.
    """
    if not KEY.fullmatch(key):
        raise ValueError(f"measure key {key!r} is not lower-case snake_case")
    # A reader who runs a cell again corrects a number; in the build a second report is a slip.
    if key in _measures and OUTPUT in os.environ:
        raise ValueError(f"measure {key!r} is reported twice in this chapter")
    plain = plain_measure(key, value, over)
    _measures[key] = {"value": plain, "over": over, "judged": judged}
    _write_measures()
    for name, number in glued(key, plain, over).items():
        _glue(name, number)


def check(what: str, value: Any, *, over: Over | None = None, **bound: Any) -> None:
    """Hold a number against a bound, and say below the cell whether it is kept.

    Args:
        what: the number in words, such as "loss at the end".
        value: the number, as for `report`; or the key of a measure that was reported before.
        over: as for `report`, if a number is given.
        bound: one of at_most=, at_least=, within=(low, high), contains= and holds=True.

    Raises:
        ValueError: for a bound that does not fit the number, a key that was not reported, and
            whatever `report` refuses.

    Example:
        >>> check("loss at the end", 0.004, at_most=0.01)
    """
    if isinstance(value, str):
        if value not in _measures:
            raise ValueError(f"the check {what!r} is about {value!r}, which was not reported")
        key = value
    else:
        key = "_".join(re.findall("[a-z0-9]+", what.lower()))
        report(key, value, over=over)
    bounds = {form: list(b) if isinstance(b, tuple) else b for form, b in bound.items()}
    measure = _measures[key] | {"judged": False, "check": {"what": what, **bounds}}
    shell = notebook_shell()
    profile = shell.user_ns.get("profile") if shell else None
    checked = Check.of(measure, judged=profile == "paper")  # bounds are about the paper's sizes
    _measures[key] = measure
    _write_measures()
    if shell:
        from IPython.display import HTML, display

        display(HTML(checked.line()))


def show(
    fig: Any,
    name: str,
    *,
    data: Mapping[str, Any] | None = None,
    preset: object = None,
    seeds: Iterable[int] = (),
) -> None:
    """Save a figure as SVG and its data as JSON, display it with its provenance, and close it.

    It is drawn twice, to fit the column of a page and a phone; the former is displayed. Raises
    ValueError for a name that cannot be a file name, TypeError for a preset that is neither a
    dataclass nor a mapping.
    """
    from IPython.display import HTML, display
    from matplotlib import pyplot

    global _last_figure
    if not FIGURE_NAME.fullmatch(name) or name.endswith(FOR_PHONES):
        raise ValueError(f"figure name {name!r} is not made of lower-case words, digits, - and _")
    now = time.monotonic()
    settings = _settings(preset, seeds, seconds=now - _last_figure)
    _last_figure = now
    folder = _output() / FIGURES_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with pyplot.rc_context({"svg.hashsalt": os.environ.get(SALT) or "bookbuild"}):
        for fitted, ending in ((drawing.fit, ""), (drawing.stack, FOR_PHONES)):
            fitted(fig)
            path = folder / f"{name}{ending}.svg"
            fig.savefig(path, metadata={"Date": None}, transparent=True)
    arrays = {str(key): _plain_array(value) for key, value in (data or {}).items()}
    document = {"figure": name, "settings": settings, "data": arrays}
    (folder / f"{name}.json").write_text(json.dumps(document) + "\n", encoding="utf-8")
    svg = (folder / f"{name}.svg").read_text(encoding="utf-8")
    display({"image/svg+xml": svg, "text/plain": f"<figure {name}>"}, raw=True)
    display(HTML(_provenance_fold(name, settings)))
    pyplot.close(fig)


def _write_measures() -> None:
    path = _output() / MEASURES_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(write_measures(_measures), encoding="utf-8")


def notebook_shell() -> Any:
    """Return the notebook's IPython; None in a plain Python."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def _output() -> Path:
    return Path(os.environ.get(OUTPUT, INTERACTIVE_OUTPUT))


def _glue(name: str, number: bool | float) -> None:
    """Glue the number where myst_nb and a notebook are at hand (Colab has no myst_nb)."""
    try:
        from myst_nb import glue
    except ImportError:
        return
    if notebook_shell() is not None:
        glue(name, number, display=False)


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
    """Return what made the figure."""
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
    """Return the fold below a figure, as HTML."""
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
