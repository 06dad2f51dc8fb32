"""An old import path says where its code has gone, and the new place is there."""

import importlib

import pytest

import emergence


@pytest.mark.parametrize(("old", "new"), emergence._PLACES.items())
def test_an_old_path_names_the_new_one(old, new):
    importlib.import_module(new)
    with pytest.raises(ImportError, match=f"emergence.{old} has moved to {new}"):
        importlib.import_module(f"emergence.{old}")


def test_other_names_are_unknown_as_ever():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("emergence.nothing")
