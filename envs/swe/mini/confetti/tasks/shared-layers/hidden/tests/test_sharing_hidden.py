import pytest

from confetti import Config, from_dict


@pytest.fixture
def values():
    return {"db": {"host": "localhost", "options": ["ssl"], "pool": {"size": 5}}, "tags": [["a"], {"b": 1}]}


@pytest.fixture
def defaults(values):
    return from_dict(values, name="defaults")


def test_a_layer_may_be_used_again(defaults):
    Config.load(defaults, from_dict({"db": {"host": "test.example.org", "pool": {"size": 1}}}))
    config = Config.load(defaults)
    assert config.get("db.host") == "localhost"
    assert config.get("db.pool.size") == 5
    assert defaults.values["db"] == {"host": "localhost", "options": ["ssl"], "pool": {"size": 5}}


def test_a_layer_in_the_middle_is_not_changed_either(defaults):
    middle = from_dict({"new": {"deep": {"x": 1}}})
    Config.load(defaults, middle, from_dict({"new": {"deep": {"x": 2, "y": 3}}}))
    assert middle.values == {"new": {"deep": {"x": 1}}}


@pytest.mark.parametrize("order", [1, -1])
def test_two_configurations_do_not_see_each_other(defaults, order):
    first, second = from_dict({"db": {"pool": {"size": 1}}}), from_dict({"db": {"pool": {"max": 9}}})
    configs = [Config.load(defaults, layer) for layer in (first, second)[::order]]
    assert [config.get("db.pool") for config in configs][::order] == [{"size": 1}, {"size": 5, "max": 9}]


@pytest.mark.parametrize("getter", ["get", "get_list"])
def test_a_list_is_a_copy(defaults, getter):
    config = Config.load(defaults)
    getattr(config, getter)("db.options").append("trace")
    assert config.get("db.options") == ["ssl"]
    assert Config.load(defaults).get("db.options") == ["ssl"]


def test_a_copy_at_every_depth(defaults):
    config = Config.load(defaults)
    tags = config.get("tags")
    tags[0].append("z")
    tags[1]["b"] = 2
    assert config.get("tags") == [["a"], {"b": 1}]


def test_a_section_is_a_copy(defaults):
    config = Config.load(defaults)
    section = config.section("db")
    section["pool"]["size"] = 0
    section["options"].clear()
    section["host"] = "changed"
    assert config.section("db") == {"host": "localhost", "options": ["ssl"], "pool": {"size": 5}}


def test_all_values_are_a_copy(defaults):
    config = Config.load(defaults)
    everything = config.as_dict()
    everything["db"]["pool"]["size"] = 0
    everything["new"] = 1
    assert config.get("db.pool.size") == 5
    assert "new" not in config


def test_what_was_given_may_be_changed_afterwards(values, defaults):
    config = Config.load(defaults)
    values["db"]["pool"]["size"] = 0
    values["db"]["options"].append("late")
    assert config.get("db.pool") == {"size": 5}
    assert config.get("db.options") == ["ssl"]


def test_a_list_behind_a_reference_is_a_copy():
    config = Config.load(from_dict({"a": [1], "b": "${a}"}))
    config.get("b").append(2)
    assert config.get("a") == [1]


def test_what_lists_hold_may_be_changed_afterwards(values, defaults):
    config = Config.load(defaults)
    values["tags"][0].append("late")
    values["tags"][1]["b"] = 9
    assert config.get("tags") == [["a"], {"b": 1}]
    assert config.as_dict()["tags"] == [["a"], {"b": 1}]


@pytest.mark.parametrize("ask", ["get", "get_list", "section", "as_dict"])
def test_what_is_handed_out_is_a_copy_at_every_depth(ask):
    config = Config.load(from_dict({"top": {"list": [[1], {"x": {"y": [2]}}], "tables": {"one": {"two": [3]}}}}))
    found = {
        "get": lambda: {"top": config.get("top")},
        "get_list": lambda: {"top": {"list": config.get_list("top.list"), "tables": config.get("top.tables")}},
        "section": lambda: {"top": config.section("top")},
        "as_dict": config.as_dict,
    }[ask]()
    found["top"]["list"][0].append(9)
    found["top"]["list"][1]["x"]["y"].append(9)
    found["top"]["tables"]["one"]["two"].append(9)
    found["top"]["tables"]["one"]["new"] = 9
    assert config.as_dict() == {"top": {"list": [[1], {"x": {"y": [2]}}], "tables": {"one": {"two": [3]}}}}


def test_references_lead_to_copies_too():
    config = Config.load(from_dict({"a": [[1], {"x": [2]}], "t": {"b": "${a}", "c": ["${a}"]}, "d": "${t}"}))
    config.get("d")["b"][0].append(9)
    config.section("t")["c"][0][1]["x"].append(9)
    config.as_dict()["d"]["c"][0][0].append(9)
    assert config.get("a") == [[1], {"x": [2]}]
    assert config.get("d") == {"b": [[1], {"x": [2]}], "c": [[[1], {"x": [2]}]]}


def test_layers_are_the_same_after_everything(values, defaults):
    config = Config.load(defaults, from_dict({"db": {"options": ["tls"], "pool": 7}, "tags": []}))
    config.get("db")["options"].append("trace")
    config.as_dict()["tags"].append("late")
    assert defaults.values == {
        "db": {"host": "localhost", "options": ["ssl"], "pool": {"size": 5}},
        "tags": [["a"], {"b": 1}],
    }
    assert config.as_dict() == {"db": {"host": "localhost", "options": ["tls"], "pool": 7}, "tags": []}
