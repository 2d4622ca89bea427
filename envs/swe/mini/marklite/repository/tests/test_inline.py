import pytest

from marklite import parse, to_html


def html(text):
    """The HTML of a single paragraph, without its tag."""
    return to_html(parse(text)).removeprefix("<p>").removesuffix("</p>\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain text", "plain text"),
        ("*em* and **strong**", "<em>em</em> and <strong>strong</strong>"),
        ("***both***", "<strong><em>both</em></strong>"),
        ("in*si*de", "in<em>si</em>de"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("*open", "*open"),
        ("close*", "close*"),
        ("*a **b** c*", "<em>a <strong>b</strong> c</em>"),
        ("*a **b* c", "<em>a **b</em> c"),
        ("*a *b*", "*a <em>b</em>"),
        ("`*code*`", "<code>*code*</code>"),
        ("``a ` b``", "<code>a ` b</code>"),
        (r"\*not em\*", "*not em*"),
        ("a < b & c", "a &lt; b &amp; c"),
        ('say "hi"', 'say "hi"'),
        ("one  \ntwo", "one<br>\ntwo"),
        ("one\\\ntwo", "one<br>\ntwo"),
        ("one\ntwo", "one\ntwo"),
    ],
)
def test_text(text, expected):
    assert html(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](http://x.org)", '<a href="http://x.org">a</a>'),
        ("[a](x.html 'no')", "[a](x.html 'no')"),
        ('[a](x.html "A title")', '<a href="x.html" title="A title">a</a>'),
        ("[*a*](x)", '<a href="x"><em>a</em></a>'),
        ("[a [b] c](x)", '<a href="x">a [b] c</a>'),
        ("[wiki](a_(b))", '<a href="a_(b)">wiki</a>'),
        ("![alt *text*](i.png)", '<img src="i.png" alt="alt text">'),
        ("<https://x.org/?a=1&b=2>", '<a href="https://x.org/?a=1&amp;b=2">https://x.org/?a=1&amp;b=2</a>'),
        ("[a](javascript:alert(1))", "a"),
        ("[a](mailto:ann@x.org)", '<a href="mailto:ann@x.org">a</a>'),
        ("[a", "[a"),
        ("[a](", "[a]("),
    ],
)
def test_links(text, expected):
    assert html(text) == expected


def test_references():
    text = "[One], [two][ONE] and [three][none].\n\n[one]: http://x.org\n"
    assert html(text) == '<a href="http://x.org">One</a>, <a href="http://x.org">two</a> and [three][none].'


def test_the_first_definition_counts_and_code_defines_nothing():
    text = "```\n[a]: code\n```\n[a]: first\n[a]: second\n\n[a]"
    assert to_html(parse(text)).endswith('<p><a href="first">a</a></p>\n')
