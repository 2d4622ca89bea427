import pytest

from marklite import parse, to_html
from marklite.nodes import CodeBlock, Heading, Item, List, Paragraph, Quote, Rule, Text


def blocks(text):
    return parse(text).blocks


@pytest.mark.parametrize("level", [1, 3, 6])
def test_headings(level):
    assert blocks("#" * level + " Title") == (Heading(level, (Text("Title"),)),)


@pytest.mark.parametrize("line", ["####### seven", "#tag"])
def test_what_is_no_heading(line):
    assert isinstance(blocks(line)[0], Paragraph)


def test_a_heading_may_be_closed():
    assert blocks("## Title ##") == (Heading(2, (Text("Title"),)),)


def test_paragraphs_end_at_an_empty_line():
    assert len(blocks("one\nstill one\n\ntwo")) == 2


@pytest.mark.parametrize("line", ["---", "***", "- - -", "___"])
def test_rules(line):
    assert blocks(line) == (Rule(),)


def test_code_is_kept_as_it_is():
    assert blocks("```python\nif x:\n    *y*\n\n```\nafter") == (
        CodeBlock("if x:\n    *y*\n", "python"),
        Paragraph((Text("after"),)),
    )


def test_code_that_is_never_closed_goes_on_to_the_end():
    assert blocks("```\na\nb") == (CodeBlock("a\nb"),)


def test_quotes_hold_blocks():
    assert blocks("> # T\n> text\n\nafter") == (
        Quote((Heading(1, (Text("T"),)), Paragraph((Text("text"),)))),
        Paragraph((Text("after"),)),
    )


def test_a_list():
    item = [Item((Paragraph((Text(name),)),)) for name in "ab"]
    assert blocks("- a\n- b") == (List(tuple(item)),)
    assert blocks("1. a\n2. b") == (List(tuple(item), ordered=True),)


def test_another_kind_of_bullet_begins_another_list():
    assert [block.ordered for block in blocks("- a\n- b\n1. c")] == [False, True]


def test_nested_lists():
    assert to_html(parse("- a\n  - b\n  - c\n- d")) == (
        "<ul>\n<li>a\n<ul>\n<li>b</li>\n<li>c</li>\n</ul>\n</li>\n<li>d</li>\n</ul>\n"
    )


def test_an_item_may_hold_several_blocks():
    assert to_html(parse("- a\n\n  second\n\n  ```\n  code\n  ```\n- b")) == (
        "<ul>\n<li>\n<p>a</p>\n<p>second</p>\n<pre><code>code\n</code></pre>\n</li>\n<li>b</li>\n</ul>\n"
    )


def test_a_lazy_line_belongs_to_its_item():
    assert to_html(parse("- a\nstill a\n- b")) == "<ul>\n<li>a\nstill a</li>\n<li>b</li>\n</ul>\n"


def test_windows_line_ends():
    assert blocks("# T\r\n\r\ntext\r\n") == (Heading(1, (Text("T"),)), Paragraph((Text("text"),)))


@pytest.mark.parametrize("text", ["", "\n\n", "   \n"])
def test_nothing(text):
    assert blocks(text) == ()
