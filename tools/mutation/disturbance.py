"""Results that are off by a factor of two or three: what a chapter's cells get from the library.

A planted fault is one slip that somebody thought of. A disturbance is none in particular: every
function that a chapter calls, or a part of them drawn by lot, returns what it should times
exp(u + v/2), u drawn for the whole array and v for each number of it, both standard normal; zeros
and errors of rounding become numbers of a usual size, and truths are turned round. So does what
reads stored records. Whole numbers in a record are sizes and stay; so does what the library itself
calls, and functions that come out, a landscape's say, which a solver has to follow.

For rows that survive this, one function after another is put off alone, so that all before it is
sound, and harder: half of the arrays change their sign, v is three times as wide, and whole numbers
in records are off too; then the same function returns next to nothing; and of one that returns a
record, some numbers or arrays in it are off and the rest is sound. A row whose verdict survives
even that judges a constant, or is far from its bound: look.
"""

import copy
import dataclasses
import random
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import wraps
from types import FunctionType, ModuleType
from typing import Any, Literal

import numpy as np
import sympy
import torch

LIBRARY, READER = ("emergence", "chapters"), "json"
ROUNDING = 1e-6  # what is smaller stands for zero
NOTHING = 1e-12  # of what it should be
MARK = "changed_by_the_drill"  # attribute of a function
# they compute nothing that is judged: what draws, what chooses sizes and devices
SPARED = ("emergence.plotting", "emergence.presets")


Library = Callable[..., Any]  # a function of it
Leaf = torch.Tensor | np.ndarray | np.generic | float | complex | int
How = Literal["off", "none", "some"]  # a function alone: hard, next to nothing, hard in places
SAYS: dict[How, str] = {
    "off": "has other signs, counts and sizes",
    "none": "is next to nothing",
    "some": "has other signs, counts and sizes in places",
}
PLACES = 0.2  # of the numbers and arrays of a record, those that are off


@dataclasses.dataclass(frozen=True)
class Disturbance:
    """A draw of what is disturbed, and of how."""

    seed: int
    share: float  # of the functions called
    only: str = ""  # the one function, instead of a share of all
    how: How = "off"

    @property
    def name(self) -> str:
        if not self.only:
            return f"disturbed-{self.seed}"
        return f"{self.how}-{self.only}" + (f"-{self.seed}" if self.how == "some" else "")

    @property
    def says(self) -> str:
        if self.only:
            what = (
                "has other signs, counts and sizes" if self.how == "off" else "is next to nothing"
            )
            return f"what {self.only} returns {what}"
        which = "all" if self.share == 1 else "some"
        return f"{which} results that the chapter gets are off by factors near 2 or 3 ({self.seed})"

    def disturbed(self, function: Library) -> Library:
        """The function with its results off, if the lot falls on it; else as it is."""
        called = name_of(function)
        key = f"{self.seed} {called}"
        if called != self.only if self.only else random.Random(key).random() >= self.share:
            return function
        # spawned by text, so that the noise of one function does not depend on the others
        noise = Noise(np.random.default_rng(list(key.encode())), self.how if self.only else None)

        @wraps(function)
        def off(*args: Any, **options: Any) -> Any:
            return noise.on(function(*args, **options))

        # what a sweep keeps of it is found by no other
        off.__qualname__ = f"{function.__qualname__}, {self.name}"
        return off


# first everything, then less and less: where all is wrong, much is not reached
DRAWS = (
    Disturbance(0, 1.0),
    *(Disturbance(seed, 1 / 3) for seed in range(1, 4)),
    *(Disturbance(seed, 1 / 6) for seed in range(4, 12)),
)


def alone(called: Mapping[str, bool]) -> Iterator[Disturbance]:
    """Each of the functions that a chapter has called, in turn, in all ways.

    Of those that return records, three draws of the places that are off.
    """
    for how in ("off", "none"):
        yield from (Disturbance(0, 0.0, only, how) for only in sorted(called))
    records = sorted(only for only, record in called.items() if record)
    yield from (Disturbance(seed, 0.0, only, "some") for seed in range(3) for only in records)


def name_of(function: Library) -> str:
    """The name of a function and of the modules in which it lies, the library's left out."""
    return f"{function.__module__}.{function.__qualname__}".partition(".")[2]


def heard(called: dict[str, bool]) -> Callable[[Library], Library]:
    """What notes which functions are called, and whether they return records; changes nothing."""

    def noted(function: Library) -> Library:
        @wraps(function)
        def same(*args: Any, **options: Any) -> Any:
            result = function(*args, **options)
            whole = isinstance(result, Mapping | list | tuple) or dataclasses.is_dataclass(result)
            called[name_of(function)] = whole or called.get(name_of(function), False)
            return result

        return same

    return noted


def wrap(names: dict[str, Any], change: Callable[[Library], Library]) -> None:
    """Change the functions of the library among some names, and those of its modules, once."""
    for name, value in list(names.items()):
        if isinstance(value, ModuleType) and not isinstance(value, Changed):
            if _of_library(value.__name__):
                names[name] = Changed(value, change)
        elif (
            type(value) is FunctionType
            and _of_library(value.__module__)
            and MARK not in vars(value)
        ):
            changed = change(value)
            if changed is not value:
                vars(changed)[MARK] = True
                names[name] = changed


class Changed(ModuleType):
    """A module of the library as a chapter sees it, its functions changed."""

    def __init__(self, module: ModuleType, change: Callable[[Library], Library]) -> None:
        super().__init__(module.__name__)
        self._module, self._change = module, change

    def __getattr__(self, name: str) -> Any:
        found = {name: getattr(self._module, name)}
        wrap(found, self._change)
        setattr(self, name, found[name])
        return found[name]


@dataclasses.dataclass(frozen=True)
class Noise:
    """What puts numbers off, in any container."""

    rng: np.random.Generator
    how: How | None = None  # as a function alone, with whole numbers in records too

    def on(self, value: Any) -> Any:
        """The value with every number in it off; what holds none is returned as it is."""
        return self._count(value) if type(value) is int else self._part(value)

    def _count(self, value: int) -> int:
        if self.how == "none":
            return 0
        return max(0, value + int(self.rng.choice([-1, 1])) * max(1, round(abs(value) / 2)))

    def _part(self, value: Any) -> Any:
        if self.how == "some" and isinstance(value, Leaf) and self.rng.random() > PLACES:
            return value
        match value:
            case torch.Tensor() | np.ndarray() | np.generic():
                return self._array(value)
            case bool():
                return not value
            case int() if self.how:
                return self._count(value)
            case float() | complex():
                factor = self._factor(()).item()
                return factor * (value if abs(value) > ROUNDING or self.how == "none" else 1.0)
            case Fraction():
                return value * Fraction(3, 2) or Fraction(1)
            case sympy.Expr():
                return value * sympy.Rational(3, 2) or sympy.Integer(1)
            case Mapping():
                return {name: self._part(part) for name, part in value.items()}
            case tuple() if hasattr(value, "_fields"):
                off = type(value)._make(map(self._part, value))
                if hasattr(value, "__dict__"):  # more than its fields
                    vars(off).update(self._part(vars(value)))
                return off
            case list() | tuple() | set():
                return type(value)(self._part(part) for part in value)
            case Iterator():
                return (self._part(part) for part in value)
        if dataclasses.is_dataclass(value) and not _is_setting(value):
            off = copy.copy(value)
            for field in dataclasses.fields(value):
                object.__setattr__(off, field.name, self._part(getattr(value, field.name)))
            return off
        return value

    def _array(self, value: Any) -> Any:
        """An array, or a tensor, with its graph if it has one."""
        if isinstance(value, torch.Tensor):
            parts = self._apart(value.detach().cpu().numpy())
            factor, shift = (torch.from_numpy(part).to(value.device) for part in parts)
            if value.dtype == torch.bool:
                return value ^ torch.from_numpy(self._lots(value.shape)).to(value.device)
            off = (value * factor + shift).to(value.dtype)
            whole = not (off.is_floating_point() or off.is_complex())  # labels, or places
            return off.abs().clamp(max=value.max()) if whole else off
        plain = np.asarray(value)
        if plain.dtype.kind == "O":
            return np.array([self.on(part) for part in plain.flat], object).reshape(plain.shape)
        if plain.dtype.kind not in "biufc":
            return value
        factor, shift = self._apart(plain)
        if plain.dtype.kind == "b":
            return plain ^ self._lots(plain.shape)
        off = plain * factor + shift
        return (np.rint(np.abs(off)) if plain.dtype.kind in "iu" else off).astype(plain.dtype)

    def _apart(self, plain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What to multiply by, and what to add where there is a zero."""
        factor = self._factor(plain.shape)
        finite = np.abs(plain[np.isfinite(plain)].astype(complex))
        usual = np.sqrt(np.mean(finite**2)) if finite.size else 0.0
        size = usual if usual > ROUNDING else 1.0
        nothing = np.abs(plain.astype(complex)) <= ROUNDING * size
        there = 0.0 if self.how == "none" else size * np.abs(np.log(np.abs(factor)))
        return factor, np.where(nothing, there, 0.0)

    def _lots(self, shape: tuple[int, ...]) -> np.ndarray:
        return np.asarray(self.rng.random(shape) < 0.5)

    def _factor(self, shape: tuple[int, ...]) -> Any:
        if self.how == "none":
            return np.full(shape, NOTHING)
        sign, wide = (self.rng.choice([-1.0, 1.0]), 3.0) if self.how else (1.0, 1.0)
        spread = wide * np.asarray(self.rng.standard_normal(shape)) / 2
        return sign * np.exp(self.rng.standard_normal() + spread)


def _of_library(module: str) -> bool:
    return module.split(".")[0] in (*LIBRARY, READER) and not module.startswith(SPARED)


def _is_setting(value: Any) -> bool:
    """Whether a dataclass says what is to be computed, and is no result."""
    module = type(value).__module__
    of_chapter = module.startswith("chapters.") and module.count(".") == 2
    named = any(room in module for room in ("settings", ".experiments", ".token_grid"))
    return isinstance(value, type) or of_chapter or named
