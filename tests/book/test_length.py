"""A reader of the story meets a figure often."""

import re

from tools.this_book import ROOT

MOST_WORDS = 400  # for each figure
FENCED = re.compile(r"^(`{3,})\{(\w+)\}.*?\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
OPTION = re.compile(r"^:\w+:.*\n", re.MULTILINE)
UNREAD = re.compile(r"\$\$.*?\$\$|\{\w+(?::\w+)?\}`[^`]*`|\$[^$\n]*\$|\]\([^)]*\)", re.DOTALL)


def shown(match: re.Match[str]) -> str:
    """What a reader sees of a directive: a caption, or one of the sentences of a conclusion."""
    if match[2] == "raw":
        return ""
    text = OPTION.sub("", match[3])
    return max(text.splitlines(), key=len) if match[2] == "concluded" else text


def test_the_story_has_a_figure_for_every_few_hundred_words() -> None:
    story = (ROOT / "book" / "story.md").read_text(encoding="utf-8")
    words = len(re.findall(r"[A-Za-z][\w'-]*", UNREAD.sub(" ", FENCED.sub(shown, story))))
    assert words > 1000
    assert words / story.count("```{figure}") <= MOST_WORDS
