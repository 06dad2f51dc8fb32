"""An old path says where its code has gone, and the new place has it."""

import importlib

import pytest

from emergence._moved import PLACES

OLD = [
    (package, name, place)
    for package, places in PLACES.items()
    for place, names in places.items()
    for name in names.split()
]


@pytest.mark.parametrize(("package", "name", "place"), OLD)
def test_an_old_path_names_the_new_one(package, name, place):
    found = importlib.import_module(place)
    if package not in ("emergence", "emergence.experiments"):  # there, modules have moved
        assert any(hasattr(found, each) for each in (name, f"matrix_{name}", f"subspace_{name}"))
    with pytest.raises(AttributeError, match=f"{package}.{name} has moved to {place}"):
        getattr(importlib.import_module(package), name)


def test_other_names_are_unknown_as_ever():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        importlib.import_module("emergence.theory").nothing  # noqa: B018
