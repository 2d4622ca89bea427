import io

import pytest

from marklite.cli import main


@pytest.fixture
def notes(tmp_path):
    path = tmp_path / "notes.md"
    path.write_text("# A\n\ntext\n", encoding="utf-8")
    return str(path)


def test_html(notes, capsys):
    assert main([notes]) == 0
    assert capsys.readouterr().out == '<h1 id="a">A</h1>\n<p>text</p>\n'


def test_plain(notes, capsys):
    assert main([notes, "--plain"]) == 0
    assert capsys.readouterr().out == "A\n=\n\ntext\n"


def test_contents(notes, capsys):
    assert main([notes, "--toc"]) == 0
    assert capsys.readouterr().out.startswith('<ul>\n<li><a href="#a">A</a></li>\n</ul>\n<h1')


def test_standard_input(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("*x*"))
    assert main(["-"]) == 0
    assert capsys.readouterr().out == "<p><em>x</em></p>\n"


def test_a_missing_file(capsys):
    assert main(["none.md"]) == 1
    assert "none.md cannot be read" in capsys.readouterr().err
