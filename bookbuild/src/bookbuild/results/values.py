"""The one serialiser of results: JSON for the structure, .npy for the arrays.

The same result always has the same bytes. They are what is kept, published, lent and compared.
"""

import io
import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

STRUCTURE = "value.json"
ARRAY, SCALAR, FLOAT = "array", "scalar", "float"  # what a one-entry dict stands for
MARKS = {ARRAY, SCALAR, FLOAT}
DTYPES = {"|b1", "|i1", "|u1", *(f"<{kind}{size}" for kind in "iuf" for size in (2, 4, 8))}
DTYPES |= {"<c8", "<c16"}
DEEPEST = 20  # lists and dicts within one another


def to_files(value: Any) -> dict[str, bytes]:
    """Return the files of a result: arrays, numbers and texts, and lists and dicts of them.

    Raises TypeError for anything else, which would come back as something it was not.
    """
    files: dict[str, bytes] = {}
    structure = json.dumps(_plain(value, files, 0), allow_nan=False)
    return {STRUCTURE: structure.encode(), **files}


# neither of the next two is a function within a function that calls itself: that would hold on to
# the files until the next round of the garbage collector, which does not know how large they are
def _plain(item: Any, files: dict[str, bytes], depth: int) -> Any:
    """Return the structure of a part of a result, whose arrays are added to the files."""
    if item is None or isinstance(item, bool | str) or type(item) is int:
        return item
    if type(item) is float:  # by hexadecimal digits: every bit, infinity and NaN as well
        return {FLOAT: item.hex()}
    if type(item) in (dict, list) and depth == DEEPEST:
        raise TypeError(f"a result is nested more than {DEEPEST} deep")
    if type(item) is dict and all(isinstance(name, str) for name in item):
        if len(item) == 1 and MARKS & item.keys():
            raise TypeError(f"a result cannot hold a dict whose only key is {next(iter(item))}")
        return {name: _plain(content, files, depth + 1) for name, content in item.items()}
    if type(item) is list:
        return [_plain(content, files, depth + 1) for content in item]
    array = item.detach().cpu().numpy() if hasattr(item, "detach") else item
    if not isinstance(array, np.ndarray | np.generic) or array.dtype.str not in DTYPES:
        raise TypeError(f"a result of type {type(item).__name__} cannot be kept: {item!r:.60}")
    name = f"{len(files)}.npy"
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    files[name] = stream.getvalue()
    return {ARRAY if isinstance(array, np.ndarray) else SCALAR: name}


def from_files(files: Mapping[str, bytes]) -> Any:
    """Return the result that `to_files` took apart; raise ValueError for files of another make."""
    try:
        return _whole(json.loads(files[STRUCTURE]), files)
    except (KeyError, TypeError, OverflowError, RecursionError) as error:
        raise ValueError("these are not the files of a result") from error


def _whole(item: Any, files: Mapping[str, bytes]) -> Any:
    """Return the part of a result that a structure describes."""
    if isinstance(item, list):
        return [_whole(content, files) for content in item]
    if not isinstance(item, dict):
        return item
    if len(item) == 1 and MARKS & item.keys():
        ((mark, content),) = item.items()
        if mark == FLOAT:
            return float.fromhex(content)
        array = _array(files[content])
        return array if mark == ARRAY else array[()]
    return {name: _whole(content, files) for name, content in item.items()}


def check_bytes(files: Mapping[str, bytes]) -> Any:
    """Return the result in files that hold, byte by byte, what `to_files` writes of it.

    Raises ValueError for all others. So two results are equal exactly where their files are, and no
    byte is there that nobody reads.
    """
    value = from_files(files)
    try:
        again = to_files(value)
    except TypeError as error:
        raise ValueError(str(error)) from error
    if again != dict(files):
        raise ValueError("it is written in another way than results are")
    return value


def count_numbers(value: Any) -> int:
    """Return how many numbers a result holds."""
    if isinstance(value, dict | list):
        return sum(map(count_numbers, value.values() if isinstance(value, dict) else value))
    return 0 if value is None or isinstance(value, str) else int(np.size(value))


def _array(content: bytes) -> Any:
    """Return the array in a .npy file, whose header may promise no more than the file holds."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("the array is of another format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if math.prod(shape) * dtype.itemsize != len(content) - stream.tell():
        raise ValueError("the array is not as long as its header says")
    return np.load(io.BytesIO(content), allow_pickle=False)
