"""Where published results are: a file, a folder with one, or an address."""

import hashlib
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from bookbuild.errors import BookError
from bookbuild.results.archive import NAME
from bookbuild.results.store import write_whole

SCHEMES = ("http", "https")
PATIENCE = 60  # seconds without a byte


def locate(source: str, folder: Path, tell: Callable[[str], None]) -> Path:
    """Return the archive that RESULTS names, downloaded to a folder where it is an address.

    What has been downloaded before is not asked for again: a release does not change. Raises
    BookError where there is none.
    """
    if urlsplit(source).scheme in SCHEMES:
        return _downloaded(source, folder, tell)
    path = Path(source).expanduser()
    path = path / NAME if path.is_dir() else path
    if not path.is_file():
        raise BookError(
            f"RESULTS names a file, a folder with {NAME} or an address, not {source!r}."
        )
    return path


def _downloaded(address: str, folder: Path, tell: Callable[[str], None]) -> Path:
    path = folder / f"{hashlib.sha256(address.encode()).hexdigest()[:16]}.zip"
    if path.is_file():
        return path
    tell(f"fetching {address}")
    try:
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            content = answer.read()
    except (urllib.error.URLError, OSError, ValueError) as error:
        raise BookError(f"{address} cannot be fetched: {error}.") from error
    write_whole(path, content)
    return path
