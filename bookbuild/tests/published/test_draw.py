"""The draw of results: what fits into the time, and on this machine."""

from bookbuild.published.draw import Draw


def test_what_cannot_fit_is_named_and_lowers_the_chance() -> None:
    draw = Draw({"short": 1.0, "long": 100.0}, 60.0, 0)
    assert draw.never == ["long"]
    assert [draw.next(60.0), draw.next(60.0)] == ["short", None]
    assert draw.chance == 0
    draw.took("short", 1.0)
    assert draw.chance == 0.5


def test_a_draw_learns_how_slow_this_machine_is() -> None:
    draw = Draw({"a": 10.0, "b": 10.0, "c": 10.0}, 60.0, 0)
    draw.took(str(draw.next(10.0)), 30.0)
    assert draw.next(29.0) is None
    assert draw.next(30.0) is not None
