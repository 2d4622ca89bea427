import pytest

from confetti import Config, InterpolationError, from_dict, from_env


def test_a_reference_sees_the_value_that_wins(load):
    config = load({"host": "localhost", "url": "http://${host}/"}, {"host": "example.org"})
    assert config.get("url") == "http://example.org/"
    assert config.as_dict() == {"host": "example.org", "url": "http://example.org/"}


def test_a_reference_to_a_key_of_a_later_layer(load):
    config = load({"url": "http://${server.host}:${server.port}/"}, {"server": {"host": "x"}}, {"server": {"port": 81}})
    assert config.get_str("url") == "http://x:81/"


def test_a_reference_in_a_later_layer(load):
    config = load({"host": "a", "name": "${host}"}, {"name": "<${host}>"}, {"host": "b"})
    assert config.get("name") == "<b>"


def test_the_environment_wins():
    config = Config.load(
        from_dict({"root": "/srv", "log": {"file": "${root}/app.log"}}), from_env("APP", {"APP_ROOT": "${home}", "APP_HOME": "/me"})
    )
    assert config.get("log.file") == "/me/app.log"
    assert config.section("log") == {"file": "/me/app.log"}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_escape_stays_one_whatever_the_number_of_layers(load, count):
    config = load({"host": "x", "key": "$${host}", "list": ["$${host}", "${host}"]}, *[{"other": 1}] * (count - 1))
    assert config.get("key") == "${host}"
    assert config.get("list") == ["${host}", "x"]
    assert config.as_dict()["key"] == "${host}"


def test_a_default_gives_way_to_a_later_layer(load):
    config = load({"key": "${name:-nobody}"}, {"name": "ann"})
    assert config.get("key") == "ann"


def test_a_type_comes_from_the_value_that_wins(load):
    config = load({"port": "80", "copy": "${port}", "list": ["${port}"]}, {"port": 81})
    assert config.get("copy") == 81
    assert config.get("list") == [81]


def test_a_reference_to_nothing_hurts_only_who_asks(load):
    config = load({"good": 1, "bad": "${none}", "table": {"worse": "${none}"}})
    assert config.get("good") == 1
    for ask in (lambda: config.get("bad"), lambda: config.section("table"), config.as_dict):
        with pytest.raises(InterpolationError, match="none"):
            ask()


@pytest.mark.parametrize(
    ("values", "key", "circle"),
    [
        ({"a": "${b}", "b": "x${a}"}, "a", "a -> b -> a"),
        ({"a": "${b}", "b": "x${a}"}, "b", "b -> a -> b"),
        ({"a": "x${a}"}, "a", "a -> a"),
        ({"a": "${b}", "b": "${c}", "c": "${a}"}, "b", "b -> c -> a -> b"),
    ],
)
def test_a_circle_names_its_keys(load, values, key, circle):
    config = load({**values, "good": 1})
    assert config.get("good") == 1
    with pytest.raises(InterpolationError, match=circle):
        config.get(key)


def test_a_circle_that_is_only_met_on_the_way(load):
    with pytest.raises(InterpolationError, match="a -> b -> a"):
        load({"start": "${a}", "a": "${b}", "b": "${a}"}).get("start")


def test_a_circle_made_by_two_layers(load):
    with pytest.raises(InterpolationError, match="a -> b -> a"):
        load({"a": "${b}", "b": "1"}, {"b": "${a}"}).get("a")


def test_two_references_to_one_key_are_no_circle(load):
    config = load({"a": "x", "b": "${a}${a}", "c": "${b} ${a} ${b}"})
    assert config.get("c") == "xx x xx"
    assert config.get("c") == "xx x xx"


def test_the_default_of_a_call_sees_the_value_that_wins(load):
    config = load({"host": "a", "name": "${host}"}, {"host": "b"})
    assert config.get("url", "http://${name}/") == "http://b/"


@pytest.mark.parametrize(
    ("values", "key", "circle"),
    [
        ({"a": "${t}", "t": {"x": "${a}"}}, "a", "a -> t -> a"),
        ({"a": "${l}", "l": [1, ["x${a}"]]}, "a", "a -> l -> a"),
        ({"a": ["${a}"]}, "a", "a -> a"),
        ({"t": {"x": "${t}"}}, "t", "t -> t"),
        ({"t": {"x": {"y": "${t.x}"}}}, "t.x", r"t\.x -> t\.x"),
        ({"a": "${b:-1}", "b": "${a:-2}"}, "a", "a -> b -> a"),
    ],
)
def test_a_circle_through_tables_lists_and_defaults(load, values, key, circle):
    config = load({**values, "good": 1})
    assert config.get("good") == 1
    with pytest.raises(InterpolationError, match=circle):
        config.get(key)
    with pytest.raises(InterpolationError, match=circle.split(" -> ")[0]):
        config.as_dict()


def test_a_reference_to_a_neighbour_in_a_table_is_no_circle(load):
    config = load({"t": {"x": "${t.y}", "y": "${u}"}, "u": ["${v}", "${v}"]}, {"v": 3})
    assert config.get("t") == {"x": [3, 3], "y": [3, 3]}
    assert config.section("t") == {"x": [3, 3], "y": [3, 3]}
    assert config.as_dict() == {"t": {"x": [3, 3], "y": [3, 3]}, "u": [3, 3], "v": 3}


def test_an_escape_stays_one_behind_a_reference(load):
    config = load({"a": "$${x}", "b": "${a}", "c": "-${b}-", "x": "no"}, {"d": ["${c}"]})
    assert [config.get(key) for key in "abcd"] == ["${x}", "${x}", "-${x}-", ["-${x}-"]]
    assert config.as_dict() == {"a": "${x}", "b": "${x}", "c": "-${x}-", "d": ["-${x}-"], "x": "no"}
    assert config.get("none", "$${x} ${a}") == "${x} ${x}"


def test_asking_changes_nothing(load):
    layers = {"host": "a", "urls": ["http://${host}/", "$${host}"], "t": {"url": "${urls}"}}, {"host": "b"}
    config = load(*layers)
    for _ in range(3):
        assert config.as_dict() == {"host": "b", "urls": ["http://b/", "${host}"], "t": {"url": ["http://b/", "${host}"]}}
        assert config.section("t") == {"url": ["http://b/", "${host}"]}
        assert config.get_list("urls") == ["http://b/", "${host}"]
    assert layers[0]["urls"] == ["http://${host}/", "$${host}"]
