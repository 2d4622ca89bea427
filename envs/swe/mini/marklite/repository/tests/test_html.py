import pytest

from marklite import parse, to_html
from marklite.html import is_safe


def test_a_document():
    text = "# Title\n\nSome *text*.\n\n> quoted\n\n---\n"
    assert to_html(parse(text)) == (
        '<h1 id="title">Title</h1>\n<p>Some <em>text</em>.</p>\n<blockquote>\n<p>quoted</p>\n</blockquote>\n<hr>\n'
    )


def test_code_has_its_language_and_is_escaped():
    assert to_html(parse("```html\n<b>\n```")) == (
        '<pre><code class="language-html">&lt;b&gt;\n</code></pre>\n'
    )


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "<b onclick=x>", "&lt;"])
def test_text_never_becomes_markup(text):
    assert "<p>&" in to_html(parse(text))


@pytest.mark.parametrize(
    ("target", "safe"),
    [
        ("http://x", True),
        ("HTTPS://x", True),
        ("/path", True),
        ("#anchor", True),
        ("a/b:c", True),
        ("javascript:x", False),
        (" JavaScript:x", False),
        ("data:text/html,x", False),
    ],
)
def test_safe_targets(target, safe):
    assert is_safe(target) is safe
