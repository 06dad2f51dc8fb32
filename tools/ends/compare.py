"""Readings of a stored run beside the same ones computed again: which of them differ."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class End:
    """Readings at the end of one stored run, and what computes them again.

    Attributes:
        file: name of the file of stored runs, without its folder and ending.
        place: of the entry in its file, from 0.
        again: computes the readings; seconds, as a rule.
        pick: the same readings of the result that is stored, or of one like it.
        relative: by how much another processor may move a number, as a share of it.
        absolute: the same, as a number.
        whole: whether all runs of the entry are computed again, and not some of them.
    """

    file: str
    place: int
    again: Callable[[], Any]
    pick: Callable[[Any], Any]
    relative: float
    absolute: float
    whole: bool = True

    @property
    def name(self) -> str:
        """What messages call it: the file and the place of the entry there, from 1."""
        return f"{self.file} {self.place + 1}"

    def slack(self, value: float) -> float:
        """How far a number may be from this one."""
        return self.absolute + self.relative * abs(value)

    def disagreements(self, stored: Any, again: Any) -> list[str]:
        """A sentence for each reading of a stored result that is another one when computed again.

        Args:
            stored: the result as the file has it.
            again: what the attribute `again` has returned.

        Returns:
            Sentences, none where all readings agree.
        """
        kept, found = dict(leaves(self.pick(stored))), dict(leaves(again))
        told = [f"{self.name}: {path} is there once only" for path in kept.keys() ^ found.keys()]
        for path in kept.keys() & found.keys():
            if not self._agree(kept[path], found[path]):
                told.append(f"{self.name}: {path} is stored as {kept[path]}, found {found[path]}")
        return sorted(told)

    def _agree(self, kept: Any, found: Any) -> bool:
        kept, found = (None if value != value else value for value in (kept, found))  # NaN
        if isinstance(kept, bool | str | None) or isinstance(found, bool | str | None):
            return bool(kept == found)
        return abs(kept - found) <= self.slack(found)


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The numbers and texts in dicts and lists, each with the way that leads there."""
    if isinstance(value, dict):
        parts: Any = value.items()
    elif isinstance(value, list | tuple):
        parts = enumerate(value)
    else:
        yield path, value
        return
    for name, part in parts:
        yield from leaves(part, (*path, name))
