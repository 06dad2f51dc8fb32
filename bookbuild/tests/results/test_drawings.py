"""What is left of a drawing, and what is refused."""

import contextlib
import io

import matplotlib
import numpy as np
import pytest
from lxml import etree

from bookbuild.errors import BookError
from bookbuild.results.drawings import serialised

matplotlib.use("svg")
from matplotlib import pyplot as plt

OPEN = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'


def test_what_matplotlib_draws_is_kept() -> None:
    figure, (left, right) = plt.subplots(1, 2)
    left.plot([0, 1], [0, 1], "--", marker="o", label="a & <b>")
    left.fill_between([0, 1], [0, 1], [1, 2], hatch="//", alpha=0.3)
    left.legend(title="$\\alpha_3$")
    right.imshow(np.eye(3))
    right.hist([1, 2, 2], bins=3)
    stream = io.BytesIO()
    figure.savefig(stream, format="svg")
    plt.close(figure)
    result = serialised(stream.getvalue())
    before = etree.fromstring(stream.getvalue())
    drawn = [x.tag for x in before.iter(etree.Element) if "www.w3.org/2000/svg" in x.tag]
    kept = [x.tag for x in etree.fromstring(result).iter()]
    assert kept == [tag for tag in drawn if not tag.endswith("}metadata")]
    assert result.startswith(b"<svg ")
    assert serialised(result) == result


@pytest.mark.parametrize(
    "content",
    [
        '<!DOCTYPE svg [<!ATTLIST svg onload CDATA "alert(1)">]>' + OPEN + "</svg>",
        f'{OPEN}<g onclick="alert(1)"/></svg>',
        f"{OPEN}<script>alert(1)</script></svg>",
        f'{OPEN}<a xlink:href="javascript:alert(1)"><path d="M 0 0"/></a></svg>',
        f'{OPEN}<use xlink:href="https://example.org/#a"/></svg>',
        f'{OPEN}<image xlink:href="data:image/svg+xml;base64,AAAA"/></svg>',
        f"{OPEN}<style>@import url(//example.org)</style></svg>",
        f"{OPEN}<style>*{{fill: u\\72l(//example.org)}}</style></svg>",
        f'{OPEN}<path style="fill: url(//example.org)"/></svg>',
        f'{OPEN}<g xml:base="https://example.org/"/></svg>',
        f"{OPEN}<foreignObject/></svg>",
        f'<?xml version="1.0"?><?xml-stylesheet href="//a"?><!-- a -->{OPEN}<!-- b --></svg>',
        f'{OPEN}<animate attributeName="href"/></svg>',
        '<svg onload="alert(1)"/>',
        "no drawing",
        '<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + OPEN + "<g>&a;</g></svg>",
    ],
)
def test_what_could_act_is_refused_or_gone(content: str) -> None:
    result = b""
    with contextlib.suppress(BookError):
        result = serialised(content)
    assert result in (b"", f"{OPEN[:-1]}/>\n".encode(), f"{OPEN}<g/></svg>\n".encode())
