"""Where published results are: a file, a folder with one, or an address."""

import hashlib
import re
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

from bookbuild.errors import BookError
from bookbuild.results.archive import MOST_BYTES, NAME, open_archive
from bookbuild.results.code.definitions import sha256_of
from bookbuild.results.store import write_whole
from bookbuild.settings import Settings

BESIDE = ".sha256"  # of the file with the digest, after the address of the results
DIGEST = re.compile(r"[0-9a-f]{64}")
HERE = ("localhost", "127.0.0.1", "::1")
PATIENCE = 60  # seconds without a byte


class Limit:
    """A progress bar, as pooch calls it, that ends a download which becomes too long."""

    def __init__(self) -> None:
        self.total, self._got = 0, 0

    def update(self, count: int) -> None:
        """Count bytes; raise ValueError where there are too many."""
        self._got += count
        if self._got > MOST_BYTES:
            raise ValueError(f"it is longer than {MOST_BYTES} bytes")

    def reset(self) -> None:
        """Begin anew."""
        self._got = 0

    def close(self) -> None:
        """Do nothing, for nothing is shown."""


def locate(source: str, folder: Path, tell: Callable[[str], None]) -> Path:
    """Return the archive that RESULTS names, downloaded to a folder where it is an address.

    An address begins with https, and the SHA-256 of the file follows it after `#sha256=` or lies
    beside it, in a file of the same name with `.sha256` at its end. Raises BookError where there is
    no archive, and for a download that is not the one that the digest names: it is not kept.
    """
    if urlsplit(source).scheme in ("http", "https"):
        return _downloaded(source, folder, tell)
    path = Path(source).expanduser()
    path = path / NAME if path.is_dir() else path
    if not path.is_file():
        raise BookError(
            f"RESULTS must name a file, a folder that contains {NAME}, or an address, not "
            f"{source!r}."
        )
    return path


def borrowing(settings: Settings, path: Path) -> Settings:
    """Return settings of a build that takes results from an archive, and keeps its own apart.

    Raises BookError for a file that is no archive, or holds another profile or seed.
    """
    archive = open_archive(path)
    here, there = ((x.profile, x.seed) for x in (settings, archive))
    if here != there:
        raise BookError(
            f"{path} holds the {there[0]} profile at first seed {there[1]}, not the {here[0]} "
            f"profile at {here[1]}."
        )
    return replace(settings, published=path, store=f"{path.stem}-{sha256_of(path)[:16]}")


def refuse(path: Path, folder: Path, sentences: Iterable[str]) -> None:
    """Write down what `verify` has found wrong with an archive, so that no build starts from it."""
    write_whole(_refusal(path, folder), "\n".join(sentences).encode())


def check_not_refused(path: Path, folder: Path) -> None:
    """Raise BookError, with what was found, for an archive that `verify` has found to be wrong."""
    refusal = _refusal(path, folder)
    if refusal.is_file():
        found = refusal.read_text(encoding="utf-8").splitlines()
        raise BookError(f"No site is built from {path}, because verify found:", *found)


def _refusal(path: Path, folder: Path) -> Path:
    return folder / f"{sha256_of(path)}.refused"


def _downloaded(source: str, folder: Path, tell: Callable[[str], None]) -> Path:
    address, fragment = urldefrag(source)
    _check_scheme(address)
    name = f"{hashlib.sha256(address.encode()).hexdigest()[:16]}.zip"
    if not (folder / name).is_file():
        tell(f"fetching {address}")
    try:
        digest = fragment.removeprefix("sha256=") or _published_digest(address, folder)
        if not DIGEST.fullmatch(digest):
            raise ValueError(f"its SHA-256 is 64 hexadecimal digits, not {digest!r:.70}")
        return _retrieved(address, f"sha256:{digest}", folder / name)
    except (OSError, ValueError) as error:  # those of requests are kinds of OSError
        raise BookError(f"{address} cannot be fetched: {' '.join(str(error).split())}.") from error


def _published_digest(address: str, folder: Path) -> str:
    """Return the digest that lies beside a file; raise ValueError where there is none."""
    try:
        path = _retrieved(f"{address}{BESIDE}", None, folder / BESIDE)
    except OSError as error:
        raise ValueError(
            f"its SHA-256 is missing: append #sha256=… to the address, or put {BESIDE} beside the "
            "file"
        ) from error
    text = path.read_text(encoding="ascii", errors="replace")
    path.unlink()  # a release may be replaced
    return text[:64]


def _retrieved(address: str, digest: str | None, path: Path) -> Path:
    """Return the file of an address; one that has another digest is not kept."""
    with warnings.catch_warnings(action="ignore"):  # its progress bar misses widgets of notebooks
        import pooch
    pooch.get_logger().setLevel("ERROR")
    hooks = {"response": lambda answer, **_: _check_scheme(answer.headers.get("location", ""))}
    download = pooch.HTTPDownloader(progressbar=Limit(), timeout=PATIENCE, hooks=hooks)
    return Path(pooch.retrieve(address, digest, path.name, path.parent, downloader=download))


def _check_scheme(address: str) -> None:
    """Raise BookError for an address whose answer anyone on the way can forge."""
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in HERE:
        raise BookError(f"{address:.80} is not fetched: the address must begin with https.")
