"""Generated parameters, ledgers and sweep configurations: accepted or refused, never a crash."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from bookbuild.errors import BookError
from bookbuild.execution.sweeps import read_grid
from bookbuild.ledger.claims import judge, read_claims
from bookbuild.settings import DEVICES, PROFILES, one_of, whole_number
from bookbuild.source.chapters import parts, read_toc
from chapters.beyond import effective_context, knock_in, uniform_queries
from chapters.paper import emergence, full_dynamics, induction_heads
from chapters.paper.full_dynamics import Point
from tools.faults.row import Row
from tools.this_book import ROOT
from tools.toy_book import LINE

PARTS = parts(read_toc(ROOT))
PRESETS = {
    module.__name__: module.PRESET
    for module in (
        induction_heads, emergence, full_dynamics, uniform_queries, effective_context, knock_in
    )
}  # fmt: skip
FUNCTION = "chapters.paper.full_dynamics.emergence_steps"
WRONG = (f"{Point.__module__}.lost", f"{Point.__module__}.Point", "emergence.lost.f", "os.system")
FORMS = ("within", "at_least", "at_most", "contains", "holds")


def mostly(usual: st.SearchStrategy[Any], other: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw from the first four times out of five."""
    return st.integers(0, 4).flatmap(lambda face: usual if face else other)


text = st.text(max_size=12)
number = st.integers(-3, 300) | st.floats() | st.just(1e-3)
junk = st.recursive(
    st.none() | st.booleans() | number | text,
    lambda one: st.lists(one, max_size=3) | st.dictionaries(text, one, max_size=3),
    max_leaves=6,
)
bound = number | st.lists(number, max_size=3) | st.just(True) | text
named = {
    "id": st.from_regex(r"[a-z]{1,4}(-[a-z]{1,3})?", fullmatch=True),
    "source": st.just("Eq. 1"),
    "statement": st.just("A claim."),
    "kind": st.sampled_from(["paper", "new", "companion", "erratum"]),
    "chapter": st.just(LINE),
}
judged = {
    "measure": st.sampled_from(["a", "b"]),
    "expect": st.dictionaries(st.sampled_from(FORMS), bound, min_size=1, max_size=1),
    "why": st.just("Because."),
}
others = {"not_testable": st.just("Never."), "headline": st.booleans(), "kindd": junk}
claim = st.fixed_dictionaries(
    {name: usual | junk for name, usual in named.items()},
    optional={name: usual | junk for name, usual in (judged | others).items()},
)
sound_claim = st.fixed_dictionaries(named | judged)
ledgers = st.lists(claim | sound_claim, max_size=3) | st.lists(sound_claim, max_size=2)
finite = st.floats(allow_nan=False)
measures = st.dictionaries(
    st.sampled_from(["a", "b"]),
    st.one_of(
        st.fixed_dictionaries({"value": value, "over": st.just(over), "judged": st.booleans()})
        for over, value in (
            (None, finite | st.booleans()),
            ("seeds", st.lists(finite, min_size=1, max_size=4)),
            ("settings", st.dictionaries(text, finite | st.booleans(), min_size=1, max_size=3)),
        )
    ),
)
axis = st.lists(st.integers(-2, 9) | st.floats() | text, max_size=3) | junk
names = st.sampled_from(["n_pairs", "seed", "dim", "batch_size", "learning_rate", "thresholds"])
grids = st.fixed_dictionaries(
    {
        "function": st.sampled_from([FUNCTION, *WRONG]) | junk,
        "grid": st.fixed_dictionaries(
            {"n_pairs": st.lists(st.integers(1, 9), min_size=1, max_size=3)},
            optional={"seed": st.lists(st.integers(0, 9), min_size=1, max_size=3)},
        )
        | st.dictionaries(names | text, axis, max_size=3)
        | junk,
    },
    optional={"fixed": st.dictionaries(names | text, junk, max_size=2) | junk, "more": junk},
)
sound_grids = st.fixed_dictionaries(
    {
        "function": st.just(FUNCTION),
        "grid": st.fixed_dictionaries(
            {
                "n_pairs": st.lists(st.integers(1, 9), min_size=1, max_size=3),
                "seed": st.lists(st.integers(0, 9), min_size=1, max_size=3),
            }
        ),
    },
    optional={
        "fixed": st.fixed_dictionaries(
            {}, optional={"dim": number, "learning_rate": number, "thresholds": st.lists(number)}
        )
    },
)


def parameters(values: tuple[str, str, str, str]) -> None:
    """Check options as the command line does; what is accepted is what was meant."""
    profile, device, part, seed = values
    one_of("PROFILE", profile, PROFILES)
    one_of("DEVICE", device, DEVICES)
    one_of("PART", part, PARTS)
    assert str(whole_number("SEED", seed, least=0)) == (seed.lstrip("0") or "0")


def preset(values: tuple[str, str, Any]) -> None:
    """Override a setting of a preset; ValueError is how the science refuses."""
    name, field, value = values
    try:
        made = PRESETS[name]["smoke"].override(**{field: value})
        assert type(getattr(made.settings, field)) is type(
            getattr(PRESETS[name]["smoke"].settings, field)
        )
    except ValueError as error:
        raise BookError(str(error)) from error


def ledger(folder: Path) -> Callable[[tuple[Any, Any]], None]:
    """Return a check of a ledger and of measures that are compared with it."""
    (folder / "data").mkdir(parents=True)

    def check(values: tuple[Any, Any]) -> None:
        rows, reported = values
        path = folder / "data" / "claims.yml"
        path.write_text(yaml.safe_dump(rows), encoding="utf-8")
        claims = read_claims(folder, [LINE])
        for finding in judge(claims, {LINE: reported}, judged=True):
            assert finding.verdict in (
                "reproduced", "partly", "contradicted", "not testable here",
            )  # fmt: skip
            str(finding.measured)

    return check


def grid(folder: Path) -> Callable[[Any], None]:
    """Return a check of a sweep's declaration."""

    def check(value: Any) -> None:
        path = folder / "grid.yml"
        path.write_text(yaml.safe_dump(value), encoding="utf-8")
        points = read_grid(path, "cpu").configurations
        assert all(type(point) is Point and type(point.n_pairs) is int for point in points)
        assert len(points) == math.prod(map(len, value["grid"].values()))

    return check


def generated(count: int, folder: Path) -> list[Row]:
    """Generate inputs of every kind."""
    word = st.sampled_from([*PROFILES, *DEVICES, *PARTS, "0", "7", "007"]) | text
    seeds = mostly(st.integers(-2, 10**20).map(str), word)
    fields = mostly(st.sampled_from(["dim", "n_pairs", "steps", "trained", "query"]), text)
    setting = mostly(st.integers(1, 64), junk)
    kinds: list[tuple[str, st.SearchStrategy[Any], Callable[[Any], None]]] = [
        ("generated parameters", st.tuples(
            mostly(st.sampled_from(PROFILES), word), mostly(st.sampled_from(DEVICES), word),
            mostly(st.sampled_from(PARTS), word), seeds,
        ), parameters),
        ("generated presets", st.tuples(st.sampled_from(list(PRESETS)), fields, setting),
         preset),
        ("generated ledgers", st.tuples(mostly(ledgers, junk), measures), ledger(folder)),
        ("generated sweep files", grids | sound_grids | junk, grid(folder)),
    ]  # fmt: skip
    return [_row(*kind, count // len(kinds)) for kind in kinds]


def _row(
    name: str, strategy: st.SearchStrategy[Any], check: Callable[[Any], None], count: int
) -> Row:
    row = Row(name)
    accepted = 0

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def one(value: Any) -> None:
        nonlocal accepted
        row.tried += 1
        try:
            check(value)
            accepted += 1
        except BookError as error:
            sentences = error.problems
            row.check(
                all(s.strip() and len(s) < 2000 for s in sentences), f"no sentence: {value!r}"
            )
        except Exception as error:
            row.lost.append(f"{type(error).__name__}: {error} at {value!r}"[:300])
            return
        row.noticed += 1

    one()
    row.remark = f"{accepted} accepted, {row.tried - accepted} refused in sentences"
    return row
