from marklite import parse, to_plain


def test_a_document():
    text = "# Title\n\nSome **text** with a [link](http://x.org).\n\n## Next\n\n- a\n- b\n  - c\n\n> quoted\n>\n> twice\n"
    assert to_plain(parse(text)) == (
        "Title\n=====\n\nSome text with a link (http://x.org).\n\nNext\n----\n\n- a\n- b\n  - c\n\n> quoted\n>\n> twice\n"
    )


def test_code_is_indented():
    assert to_plain(parse("```\na\nb\n```")) == "    a\n    b\n"


def test_a_bare_link_is_written_once():
    assert to_plain(parse("<http://x.org>")) == "http://x.org\n"


def test_an_image_is_its_text():
    assert to_plain(parse("![A cat](cat.png)")) == "[A cat]\n"


def test_numbers():
    assert to_plain(parse("1. a\n1. b\n1. c")) == "1. a\n2. b\n3. c\n"


def test_nothing():
    assert to_plain(parse("")) == ""
