import pytest

from marklite import parse, to_html, to_plain
from marklite.nodes import Item, List, Paragraph, Text


@pytest.mark.parametrize(
    ("text", "start"), [("3. c\n4. d", 3), ("1. a", 1), ("0. a", 0), ("007. a\n1. b", 7), ("12. a\n3. b\n1. c", 12)]
)
def test_the_tree_knows_the_first_number(text, start):
    (block,) = parse(text).blocks
    assert (block.ordered, block.start) == (True, start)


def test_an_unordered_list_starts_with_one():
    (block,) = parse("- a\n- b").blocks
    assert (block.ordered, block.start) == (False, 1)


def test_the_field_has_a_default():
    item = Item((Paragraph((Text("a"),)),))
    assert List((item,), ordered=True).start == 1
    assert parse("1. a").blocks == (List((item,), ordered=True),)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3. c\n9. d", '<ol start="3">\n<li>c</li>\n<li>d</li>\n</ol>\n'),
        ("1. a\n7. b", "<ol>\n<li>a</li>\n<li>b</li>\n</ol>\n"),
        ("0. a", '<ol start="0">\n<li>a</li>\n</ol>\n'),
        ("010. a", '<ol start="10">\n<li>a</li>\n</ol>\n'),
        ("- a", "<ul>\n<li>a</li>\n</ul>\n"),
        ("- a\n  4. b", '<ul>\n<li>a\n<ol start="4">\n<li>b</li>\n</ol>\n</li>\n</ul>\n'),
    ],
)
def test_html(text, expected):
    assert to_html(parse(text)) == expected


def test_a_list_goes_on_after_a_picture():
    text = "1. Open.\n2. Look.\n\n![inside](inside.png)\n\n3. Close.\n"
    assert to_plain(parse(text)) == "1. Open.\n2. Look.\n\n[inside]\n\n3. Close.\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3. c\n3. d", "3. c\n4. d\n"),
        ("9. a\n1. b\n   - c", "9. a\n10. b\n    - c\n"),
        ("0. a\n0. b", "0. a\n1. b\n"),
        ("007. a\n008. b", "7. a\n8. b\n"),
        ("1. a\n   5. b\n   6. c\n2. d", "1. a\n   5. b\n   6. c\n2. d\n"),
    ],
)
def test_plain(text, expected):
    assert to_plain(parse(text)) == expected
