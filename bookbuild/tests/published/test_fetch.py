"""Published files: what cannot be trusted is not fetched."""

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
WRONG = "0" * 64


class Handler(SimpleHTTPRequestHandler):
    """A quiet server, which leads elsewhere from one of its addresses."""

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path != "/moved":
            return super().do_GET()
        self.send_response(302)
        self.send_header("location", "http://example.org/results.zip")
        self.end_headers()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """The address of a folder on this machine."""
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "results.zip").write_bytes(CONTENT)
    handler = partial(Handler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_what_has_its_digest_is_fetched_once(served: str, tmp_path: Path) -> None:
    output: list[str] = []
    for _ in range(2):
        source = f"{served}/results.zip#sha256={DIGEST}"
        assert fetch.locate(source, tmp_path / "kept", output.append).read_bytes() == CONTENT
    assert output == [f"fetching {served}/results.zip"]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (
            f"/results.zip#sha256={WRONG}",
            f"cannot be fetched: its SHA-256 is {DIGEST}, not {WRONG}",
        ),
        (f"/nowhere.zip#sha256={DIGEST}", "cannot be fetched: 404 Client Error"),
        ("/results.zip", "append #sha256="),
        ("/results.zip#sha256=1", "append #sha256= and the 64 hexadecimal digits"),
        (f"http://example.org/results.zip#sha256={DIGEST}", "the address must begin with https"),
        (f"/moved#sha256={DIGEST}", "the address must begin with https"),
    ],
)
def test_a_download_that_is_not_the_one_is_not_kept(
    served: str, tmp_path: Path, source: str, reason: str
) -> None:
    address = source if source.startswith("http") else f"{served}{source}"
    with pytest.raises(BookError, match=reason):
        fetch.locate(address, tmp_path / "kept", str)
    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
