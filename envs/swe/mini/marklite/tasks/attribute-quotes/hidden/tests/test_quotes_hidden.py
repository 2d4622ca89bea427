import unittest

from marklite import parse, to_html


def html(text):
    return to_html(parse(text)).removeprefix("<p>").removesuffix("</p>\n")


class Attributes(unittest.TestCase):
    def test_title_of_a_link(self):
        assert html(r'[greeting](hello.html "Say \"hi\" & wave")') == (
            '<a href="hello.html" title="Say &quot;hi&quot; &amp; wave">greeting</a>'
        )

    def test_title_that_looks_like_an_attribute(self):
        assert html(r'[x](y "\" onmouseover=\"alert(1)")') == (
            '<a href="y" title="&quot; onmouseover=&quot;alert(1)">x</a>'
        )

    def test_target_of_a_link(self):
        assert html('[x](<a"b&c>)') == '<a href="a&quot;b&amp;c">x</a>'

    def test_address_in_angle_brackets(self):
        assert html('<http://x.org/?q="a">') == '<a href="http://x.org/?q=&quot;a&quot;">http://x.org/?q="a"</a>'

    def test_title_by_reference(self):
        assert html('[x]\n\n[x]: y "a \\"b\\""') == '<a href="y" title="a &quot;b&quot;">x</a>'

    def test_image(self):
        assert html(r'![the "best" cat](c.png "a \"title\"")') == (
            '<img src="c.png" alt="the &quot;best&quot; cat" title="a &quot;title&quot;">'
        )

    def test_language_of_code(self):
        assert to_html(parse('```a"b\nx\n```')) == '<pre><code class="language-a&quot;b">x\n</code></pre>\n'


class Text(unittest.TestCase):
    def test_quotes_in_text_stay(self):
        assert html('say "hi" & <wave>') == 'say "hi" &amp; &lt;wave&gt;'

    def test_quotes_in_code_stay(self):
        assert html('`print("x")`') == '<code>print("x")</code>'

    def test_empty_alt_text(self):
        assert html("![](c.png)") == '<img src="c.png" alt="">'

    def test_entities_are_escaped_once(self):
        assert html('[x](y "&quot;")') == '<a href="y" title="&amp;quot;">x</a>'

    def test_source_of_an_image(self):
        assert html('![x](<a"b&c>)') == '<img src="a&quot;b&amp;c" alt="x">'

    def test_image_by_reference(self):
        assert html('![a "b"][x]\n\n[x]: <c"d> "e \\"f\\""') == (
            '<img src="c&quot;d" alt="a &quot;b&quot;" title="e &quot;f&quot;">'
        )

    def test_everything_at_once(self):
        assert html(r'[!["i" <j>](<k"l> "m \"n\" &amp;")](<o"p> "<q>")') == (
            '<a href="o&quot;p" title="&lt;q&gt;">'
            '<img src="k&quot;l" alt="&quot;i&quot; &lt;j&gt;" title="m &quot;n&quot; &amp;amp;"></a>'
        )

    def test_within_lists_quotes_and_headings(self):
        assert to_html(parse('> - [a"b](<c"d>)\n')) == (
            '<blockquote>\n<ul>\n<li><a href="c&quot;d">a"b</a></li>\n</ul>\n</blockquote>\n'
        )
        assert to_html(parse('# Say "hi"\n')) == '<h1 id="say-hi">Say "hi"</h1>\n'
