from confetti import Config, from_dict


def test_a_layer_is_not_changed():
    defaults = from_dict({"a": {"x": 1}})
    Config.load(defaults, from_dict({"a": {"x": 2}}))
    assert defaults.values == {"a": {"x": 1}}


def test_what_is_handed_out_is_a_copy(load):
    config = load({"a": {"x": [1]}})
    config.get("a.x").append(2)
    assert config.get("a.x") == [1]
