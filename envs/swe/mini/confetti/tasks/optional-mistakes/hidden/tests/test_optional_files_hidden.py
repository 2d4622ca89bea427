import pytest

from confetti import BadSource, Config, from_dict, from_file


def test_a_missing_file_is_an_empty_layer(tmp_path):
    layer = from_file(tmp_path / "app.toml", optional=True)
    assert layer.values == {}
    assert layer.name == str(tmp_path / "app.toml")
    assert Config.load(from_dict({"a": 1}), layer).as_dict() == {"a": 1}


def test_a_file_that_is_right_is_read(tmp_path):
    path = tmp_path / "app.toml"
    path.write_text("a = 1\n", encoding="utf-8")
    assert from_file(path, optional=True).values == {"a": 1}


@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("app.toml", b"a = 1,\n"),
        ("app.toml", b"a = 1\na = 2\n"),
        ("app.toml", b"a = '\xff'\n"),
        ("app.ini", b"no section\n"),
        ("app.ini", b"[a]\nx = 1\n[a]\ny = 2\n"),
        ("app.ini", b"[a]\nx = \xff\n"),
    ],
    ids=["syntax", "key twice", "toml in latin-1", "no section", "section twice", "ini in latin-1"],
)
def test_a_broken_file_is_always_an_error(tmp_path, name, content, optional):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(BadSource) as caught:
        from_file(path, optional=optional)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("optional", [True, False])
def test_a_folder_is_no_file(tmp_path, optional):
    (tmp_path / "app.toml").mkdir()
    with pytest.raises(BadSource, match="app.toml"):
        from_file(tmp_path / "app.toml", optional=optional)


def test_a_missing_file_that_is_needed(tmp_path):
    with pytest.raises(BadSource, match="does not exist"):
        from_file(tmp_path / "app.ini")


@pytest.mark.parametrize("optional", [True, False])
def test_a_section_that_is_a_value_too_is_an_error(tmp_path, optional):
    path = tmp_path / "app.ini"
    path.write_text("[a]\nb = 1\n", encoding="utf-8")
    assert from_file(path, optional=optional).values == {"a": {"b": "1"}}
    path.write_text("[a]\nb = 1\n[a.b]\nc = 2\n", encoding="utf-8")
    with pytest.raises(BadSource) as caught:
        from_file(path, optional=optional)
    assert str(caught.value).startswith(str(path))
