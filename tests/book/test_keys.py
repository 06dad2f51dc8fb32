"""What the keys of this book depend on, and what they leave out."""

from bookbuild.results.code import reached_by_cells
from tools.this_book import ROOT, chapters


def reached(*, shown: bool) -> tuple[set[str], set[str]]:
    """The modules and the packages that the chapters depend on, together."""
    found = [
        reached_by_cells((cell.source for cell in chapter.code), ROOT / "src", shown=shown)
        for chapter in chapters()
    ]
    return {m for each in found for m in each.modules}, {p for each in found for p in each.packages}


def test_keys_leave_out_where_something_is_computed_and_fingerprints_what_draws() -> None:
    shown, packages = reached(shown=True)
    numbers, for_numbers = reached(shown=False)
    assert not {"emergence.running.executors", "emergence.running.sweep"} & shown
    assert "distributed" not in packages
    left_out = {name for name in shown if name.startswith(("bookbuild", "emergence.plotting"))}
    assert {"bookbuild.reporting.notebook", "emergence.plotting._style"} <= left_out
    assert packages - for_numbers >= {"matplotlib"}
    assert numbers == shown - left_out
