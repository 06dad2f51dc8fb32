"""Lines of the record computed again: where they differ from what is recorded."""

from bookbuild.ledger.claims import Finding
from bookbuild.ledger.evidence import fate, verdict_on
from bookbuild.ledger.outcomes import Numbers, Outcome
from bookbuild.reporting.measures import Measured
from bookbuild.results.contents import different
from bookbuild.results.machine import machine_name

from .book import TOY, Book
from .runner import changes, measure, numbers_of


def differences(book: Book, line: Numbers | Outcome) -> list[str]:
    """Execute a chapter again as a line says; return what comes out otherwise, a sentence each.

    On the kind of machine that measured, every bit has to be the same. Where that is not known, or
    is another, the verdicts have to be. Raises BookError where the chapter cannot be executed.
    """
    if isinstance(line, Numbers):
        again = measure(book.root, line.chapter, TOY)
        return changes(line, numbers_of(book, line.chapter, again))
    place = (line.chapter, line.variation)
    (variation,) = (one for name, one in book.declared() if (name, one.name) == place)
    again = measure(book.root, line.chapter, variation)
    if line.machine == machine_name() and not line.fates:
        here = {key: again.values.get(key) for key in line.values}
        return different(dict(line.values), here, 0.0)
    rows = [
        Finding(claim, Measured.of(found["value"], found["over"]), "not judged")
        for claim in book.claims
        if claim.chapter == line.chapter and (found := again.measures.get(claim.measure))
    ]
    if line.fates:
        base = book.record.without_fault(line)
        turned = {row.claim.id for row in rows if fate(row, base, again.values) == "turned"}
        lost = sorted({*line.fates.get("turned", ())} - turned)
        return [f"{line.variation} no longer turns {row}" for row in lost]
    return [
        *(f"{key} is not measured" for key in line.values if key not in again.values),
        *(
            f"{row.claim.id} has another verdict"
            for row in rows
            if row.claim.measure in line.values
            and verdict_on(row, line.values) != verdict_on(row, again.values)
        ),
    ]
