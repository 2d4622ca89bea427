import re

import pytest

from marklite import parse, table_of_contents, to_html
from marklite.cli import main

NOTES = "# Notes\n\n## 2.0\n\n### Added\n\n## 1.0\n\n### Added\n\n## Added\n"


def ids(text):
    return re.findall(r'<h[1-6] id="([^"]*)"', to_html(parse(text)))


def listed(text, depth=6):
    return [entry.anchor for entry in table_of_contents(parse(text), depth)]


def test_entries_have_the_anchors_of_their_headings():
    assert ids(NOTES) == ["notes", "2-0", "added", "1-0", "added-2", "added-3"]
    assert listed(NOTES) == ["notes", "2-0", "added", "1-0", "added-2", "added-3"]


def test_depth_leaves_out_entries_and_changes_no_anchor():
    assert listed(NOTES, depth=2) == ["notes", "2-0", "1-0", "added-3"]
    assert listed(NOTES, depth=1) == ["notes"]


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        (["Added", "Added", "Added 2"], ["added", "added-2", "added-2-2"]),
        (["Added 2", "Added", "Added"], ["added-2", "added", "added-3"]),
        (["A", "A 2", "A", "A"], ["a", "a-2", "a-3", "a-4"]),
        (["?", "!"], ["section", "section-2"]),
        (["*A*", "`a`", "A!"], ["a", "a-2", "a-3"]),
    ],
)
def test_no_anchor_is_used_twice(headings, expected):
    text = "\n\n".join(f"# {heading}" for heading in headings)
    assert ids(text) == expected
    assert listed(text) == expected


def test_headings_in_quotes_and_lists_count_where_they_stand():
    text = "# A\n\n> ## A\n\n- # A\n  > # B\n\n# A\n\n# B\n"
    assert ids(text) == ["a", "a-2", "a-3", "b", "a-4", "b-2"]
    assert listed(text) == ["a", "a-2", "a-3", "b", "a-4", "b-2"]


def test_a_document_is_rendered_the_same_again():
    document = parse("# A\n\n# A\n")
    assert to_html(document) == to_html(document)
    assert to_html(document) == '<h1 id="a">A</h1>\n<h1 id="a-2">A</h1>\n'


def test_the_command_links_to_every_heading(tmp_path, capsys):
    path = tmp_path / "notes.md"
    path.write_text(NOTES, encoding="utf-8")
    assert main([str(path), "--toc"]) == 0
    links = re.findall(r'href="#([^"]*)"', capsys.readouterr().out)
    assert links == ["notes", "2-0", "added", "1-0", "added-2", "added-3"]
