"""Web server of a folder, for this machine alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bookbuild.errors import BookError


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def served(folder: Path, port: int = 0) -> Iterator[str]:
    """Serve a folder at the address that is yielded; port 0 is a free one. Raises BookError."""
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Quiet, directory=str(folder)))
    except (OSError, OverflowError) as error:
        raise BookError(
            f"Port {port} cannot be used: {error}; choose another with --port."
        ) from error
    with server:
        threading.Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
