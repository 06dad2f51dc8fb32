"""Where published results are: what cannot be trusted is not fetched, what is bad is not kept."""

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bookbuild.errors import BookError
from bookbuild.published import fetch

CONTENT = b"results"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """An address on this machine, and the folder behind it."""
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "results.zip").write_bytes(CONTENT)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            if self.path == "/moved":
                self.send_response(302)
                self.send_header("location", "http://example.org/results.zip")
                self.end_headers()
            else:
                super().do_GET()

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", folder
        server.shutdown()
        thread.join()


def test_a_file_and_a_folder_are_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / fetch.NAME
    path.write_bytes(CONTENT)
    assert fetch.locate(str(tmp_path), tmp_path, print) == path
    with pytest.raises(BookError, match="RESULTS must name a file, a folder that contains"):
        fetch.locate("nowhere", tmp_path, print)


def test_what_is_fetched_has_the_digest_that_is_given_or_lies_beside(
    served: tuple[str, Path], tmp_path: Path
) -> None:
    (address, folder), kept, told = served, tmp_path / "kept", []
    found = fetch.locate(f"{address}/results.zip#sha256={DIGEST}", kept, told.append)
    assert found.read_bytes() == CONTENT
    (folder / "results.zip.sha256").write_text(f"{DIGEST}  results.zip\n")
    assert fetch.locate(f"{address}/results.zip", kept, told.append) == found
    assert told == [f"fetching {address}/results.zip"]


def test_a_download_that_is_not_the_one_is_not_kept(
    served: tuple[str, Path], tmp_path: Path
) -> None:
    (address, folder), kept = served, tmp_path / "kept"
    with pytest.raises(BookError, match="does not match the known hash"):
        fetch.locate(f"{address}/results.zip#sha256={'0' * 64}", kept, print)
    assert not [path for path in kept.rglob("*") if path.is_file()]
    with pytest.raises(BookError, match="SHA-256 is missing"):
        fetch.locate(f"{address}/results.zip", kept, print)
    with pytest.raises(BookError, match="64 hexadecimal digits"):
        fetch.locate(f"{address}/results.zip#sha256=1", kept, print)
    (folder / "results.zip").write_bytes(b"others")
    with pytest.raises(BookError, match="cannot be fetched"):
        fetch.locate(f"{address}/results.zip#sha256={DIGEST}", kept, print)


def test_nothing_is_fetched_without_https(served: tuple[str, Path], tmp_path: Path) -> None:
    with pytest.raises(BookError, match="the address must begin with https"):
        fetch.locate(f"http://example.org/results.zip#sha256={DIGEST}", tmp_path, print)
    with pytest.raises(BookError, match="the address must begin with https"):
        fetch.locate(f"{served[0]}/moved#sha256={DIGEST}", tmp_path, print)


def test_a_download_that_does_not_end_is_given_up(
    served: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "MOST_BYTES", 3)
    with pytest.raises(BookError, match="longer than 3 bytes"):
        fetch.locate(f"{served[0]}/results.zip#sha256={DIGEST}", tmp_path, print)
