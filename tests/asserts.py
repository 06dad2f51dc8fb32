"""What tests of the science assert beside equality."""

import pytest


def refused(error, message, function, *arguments, **options):
    """Assert that the call raises this error, with a message that matches, or any for None."""
    with pytest.raises(error, match=message):
        function(*arguments, **options)
