"""What is told while chapters run, and how the news leaves the kernel."""

from unittest import mock

from bookbuild.execution.execute import Display


def told(*steps: tuple[str, int, float]) -> list[str]:
    """What is printed of a chapter whose experiments are at these steps at these times."""
    now, lines = 0.0, list[str]()
    display = Display(lines.append)
    with mock.patch("time.time", side_effect=lambda: now):
        display.start("paper/a")
        display.progress("paper/a", {})
        for experiment, step, now in steps:
            record = {"experiment": experiment, "step": step, "total": 100, "time": now}
            display.progress("paper/a", record)
        display.done("paper/a", 100.0, failed=False)
    return lines


def test_lines_tell_start_progress_now_and_then_and_end() -> None:
    """The time left is that of the current experiment."""
    steps = [("slow", 1, 0.0), *(("quick", step, 20.0 + step) for step in range(0, 60, 10))]
    assert told(*steps) == [
        "paper/a: started",
        "paper/a: quick, step 0 of 100",
        "paper/a: quick, step 20 of 100, about 80 s left",
        "paper/a: quick, step 40 of 100, about 60 s left",
        "paper/a: done in 100.0 s",
    ]
