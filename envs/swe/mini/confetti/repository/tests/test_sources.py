import pytest

from confetti import BadSource, from_env, from_file


@pytest.fixture
def write(tmp_path):
    def written(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_toml(write):
    path = write("app.toml", '[server]\nport = 1\nnames = ["a"]\n')
    layer = from_file(path)
    assert layer.values == {"server": {"port": 1, "names": ["a"]}}
    assert layer.name == str(path)


def test_ini(write):
    text = "[server]\nport = 1\n[server.tls]\ncert = a%b\n"
    assert from_file(write("app.ini", text)).values == {"server": {"port": "1", "tls": {"cert": "a%b"}}}


def test_an_optional_file_may_be_missing(tmp_path):
    layer = from_file(tmp_path / "none.toml", optional=True)
    assert layer.values == {}


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadSource, match="none.toml does not exist"):
        from_file(tmp_path / "none.toml")


def test_a_broken_file_is_named(write):
    with pytest.raises(BadSource, match=r"app.toml: .*line 2"):
        from_file(write("app.toml", "a = 1\nb = = 2\n"))


def test_another_kind_of_file_is_refused(write):
    with pytest.raises(BadSource, match=r"expected one of .toml, .ini"):
        from_file(write("app.yaml", "a: 1"))


@pytest.mark.parametrize(
    ("environ", "values"),
    [
        ({"APP_PORT": "1"}, {"port": "1"}),
        ({"APP_A__B__C": "1", "APP_A__D": "2"}, {"a": {"b": {"c": "1"}, "d": "2"}}),
        ({"app_port": "1"}, {"port": "1"}),
        ({"APPLE": "1", "X_APP_Y": "2"}, {}),
        ({"APP_LOG_LEVEL": ""}, {"log_level": ""}),
    ],
)
def test_environment(environ, values):
    assert from_env("app", environ).values == values


def test_a_variable_that_is_a_value_and_a_table():
    with pytest.raises(BadSource, match="APP_A__B"):
        from_env("APP", {"APP_A": "1", "APP_A__B": "2"})
