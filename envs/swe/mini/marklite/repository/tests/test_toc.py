import pytest

from marklite import Entry, parse, table_of_contents, to_html
from marklite.toc import slug


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", "hello-world"),
        ("What's new in 2.0?", "what-s-new-in-2-0"),
        ("snake_case", "snake-case"),
        ("Über uns", "über-uns"),
        ("???", "section"),
    ],
)
def test_slugs(text, expected):
    assert slug(text) == expected


def test_headings_in_order():
    document = parse("# A\n\n## *B* and `c`\n\n> ### D\n")
    assert table_of_contents(document) == [Entry(1, "A", "a"), Entry(2, "B and c", "b-and-c"), Entry(3, "D", "d")]


def test_depth():
    assert [entry.text for entry in table_of_contents(parse("# A\n\n## B\n\n### C"), depth=2)] == ["A", "B"]


def test_headings_have_their_anchors():
    assert to_html(parse("# Hello, World!")) == '<h1 id="hello-world">Hello, World!</h1>\n'
