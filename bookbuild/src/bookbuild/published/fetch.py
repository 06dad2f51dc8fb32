"""Where published results are: a file, a folder with one, or an address."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import requests

from bookbuild.errors import BookError
from bookbuild.results.archive import MOST_BYTES, NAME, open_archive
from bookbuild.results.code import sha256_of
from bookbuild.settings import BuildSettings

DIGEST = re.compile(r"[0-9a-f]{64}")
HERE = ("localhost", "127.0.0.1", "::1")
PATIENCE = 60  # seconds without a byte


def locate(source: str, folder: Path, tell: Callable[[str], None]) -> Path:
    """Return the archive that RESULTS names, downloaded to a folder where it is an address.

    An address begins with https, and the SHA-256 of the file follows it after `#sha256=`. Raises
    BookError where there is no archive, and for a download that is not the one that the digest
    names: it is not kept.
    """
    if urlsplit(source).scheme in ("http", "https"):
        return _downloaded(source, folder, tell)
    path = Path(source).expanduser().resolve()  # kernels have another working directory
    path = path / NAME if path.is_dir() else path
    if not path.is_file():
        raise BookError(
            f"RESULTS must name a file, a folder that contains {NAME}, or an address, not "
            f"{source!r}."
        )
    return path


def borrowing(settings: BuildSettings, path: Path) -> BuildSettings:
    """Return settings of a build that takes results from an archive, and keeps its own apart.

    Raises BookError for a file that is no archive, or holds another profile or seed.
    """
    archive = open_archive(path)
    here, published = ((x.profile, x.seed) for x in (settings, archive))
    if here != published:
        raise BookError(
            f"{path} holds the {published[0]} profile at first seed {published[1]}, not the "
            f"{here[0]} profile at {here[1]}."
        )
    return replace(settings, published=path, store=f"{path.stem}-{sha256_of(path)[:16]}")


def _downloaded(source: str, folder: Path, tell: Callable[[str], None]) -> Path:
    """Return the file of an address below a folder, where it lies under its digest."""
    address, fragment = urldefrag(source)
    _check_scheme(address)
    digest = fragment.removeprefix("sha256=")
    if not DIGEST.fullmatch(digest):
        raise BookError(
            f"{address} is not fetched: append #sha256= and the 64 hexadecimal digits of its "
            f"SHA-256, not {digest!r:.70}."
        )
    path = folder / f"{digest}.zip"
    if not path.is_file():
        tell(f"fetching {address}")
        try:
            _fetch(address, digest, path)
        except (OSError, ValueError) as error:  # those of requests are kinds of OSError
            reason = " ".join(str(error).split())
            raise BookError(f"{address} cannot be fetched: {reason}.") from error
    return path


def _fetch(address: str, digest: str, path: Path) -> None:
    """Write the file of an address; raise ValueError, and keep nothing, where it is another."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    hooks = {"response": lambda answer, **_: _check_scheme(answer.headers.get("location", ""))}
    try:
        with (
            requests.get(address, stream=True, timeout=PATIENCE, hooks=hooks) as answer,
            partial.open("wb") as file,
        ):
            answer.raise_for_status()
            for piece in answer.iter_content(2**20):
                if file.tell() + len(piece) > MOST_BYTES:
                    raise ValueError(f"it is longer than {MOST_BYTES} bytes")
                file.write(piece)
        if sha256_of(partial) != digest:
            raise ValueError(f"its SHA-256 is {sha256_of(partial)}, not {digest}")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _check_scheme(address: str) -> None:
    """Raise BookError for an address whose answer anyone on the way can forge."""
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in HERE:
        raise BookError(f"{address:.80} is not fetched: the address must begin with https.")
