"""Is a folder a valid Process Run Crate? python tools/release_audit/crate.py FOLDER.

The validator asks the web for the JSON-LD context; here it is given the copy that rocrate brings.
Prints what is wrong, and ends with 1 if anything is.
"""

import io
import sys
from email.message import Message
from pathlib import Path
from unittest import mock
from urllib.response import addinfourl

import requests
import rocrate
from rocrate_validator import models, services

CONTEXT = "https://w3id.org/ro/crate/1.1/context"


def answer(session, request, **_):
    """The context for its address, and nothing for any other."""
    found = requests.Response()
    found.url, found.request = request.url, request
    found.status_code = 404
    if request.url == CONTEXT:
        found.status_code = 200
        found.headers["Content-Type"] = "application/ld+json"
        found._content = context()
    return found


def opened(request):
    """The context for urllib, by which rdflib asks."""
    if request.full_url != CONTEXT:
        raise OSError(f"{request.full_url} is not known here")
    reply = addinfourl(io.BytesIO(context()), Message(), CONTEXT)
    reply.headers["Content-Type"] = "application/ld+json"
    return reply


def context() -> bytes:
    return (Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld").read_bytes()


def main(folder: str) -> int:
    with (
        mock.patch("requests.Session.send", answer),
        mock.patch("requests_cache.CachedSession.send", answer),
        mock.patch("rdflib._networking.urlopen", opened),
    ):
        result = services.validate(
            models.ValidationSettings(
                rocrate_uri=folder,
                profile_identifier="process-run-crate",
                requirement_severity=models.Severity.REQUIRED,
                no_cache=True,
            )
        )
    for issue in result.get_issues():
        print(issue.severity.name, issue.check.identifier, issue.message)
    return 0 if result.passed() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
