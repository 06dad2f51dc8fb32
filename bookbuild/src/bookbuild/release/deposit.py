"""A release deposited on Zenodo, which gives it one DOI: https://developers.zenodo.org.

The deposit stays a draft. Someone looks at it on Zenodo and publishes it there, for a published
record cannot be taken back.
"""

import json
from pathlib import Path
from typing import Any

import requests

from bookbuild.errors import BookError

from .metadata import ZENODO

SERVER = "https://zenodo.org"
PATIENCE = 600  # seconds without an answer


def deposit_release(folder: Path, token: str, server: str = SERVER) -> tuple[str, str]:
    """Upload a release as a draft; return its page on Zenodo and the DOI that it reserves.

    Args:
        folder: what `bookbuild.release.pack.release` has written; its zip file lies beside it.
        token: an access token with the scopes deposit:write and deposit:actions.
        server: another server with Zenodo's interface, such as https://sandbox.zenodo.org.

    Raises:
        BookError: where there is no release, or the server refuses.
    """
    whole = folder.with_suffix(".zip")
    if not whole.is_file():
        raise BookError("There is no release to deposit yet: run make release first.")
    said = json.loads((folder / ZENODO).read_text(encoding="utf-8"))
    with requests.Session() as session:
        session.headers["Authorization"] = f"Bearer {token}"
        draft = _asked(session, "POST", f"{server}/api/deposit/depositions", json={})
        for path in (whole, *sorted(folder.glob("*.zip"))):
            with path.open("rb") as content:
                _asked(session, "PUT", f"{draft['links']['bucket']}/{path.name}", data=content)
        _asked(session, "PUT", draft["links"]["self"], json={"metadata": said})
    return draft["links"]["html"], draft["metadata"]["prereserve_doi"]["doi"]


def _asked(session: requests.Session, method: str, address: str, **content: Any) -> Any:
    """Return what the server answers; raise BookError where it refuses or is not reached."""
    try:
        answer = session.request(method, address, timeout=PATIENCE, **content)
        answer.raise_for_status()
        return answer.json()
    except (requests.RequestException, ValueError) as error:
        raise BookError(f"The deposit failed, and its draft is not complete: {error}.") from error
