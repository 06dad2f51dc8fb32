"""Entry point of the command line."""

import sys

if __name__ == "__main__":
    # a grammar of addresses that jsonschema loads for a second, and that no schema here asks for
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    from .cli import main

    main()
