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
    old, _, new = name.partition(":")
    found = importlib.import_module(place)
    if package not in ("emergence", "emergence.experiments"):  # there, modules have moved
        assert hasattr(found, new or old)
    told = f"{place}.{new}" if new else place
    with pytest.raises(AttributeError, match=f"{package}.{old} has moved to {told}"):
        getattr(importlib.import_module(package), old)


def test_other_names_are_unknown_as_ever():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        importlib.import_module("emergence.theory").nothing  # noqa: B018
