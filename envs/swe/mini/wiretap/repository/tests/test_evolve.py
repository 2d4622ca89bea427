import pytest

from wiretap import History, SchemaError


@pytest.fixture
def history():
    """Version 1 has celsius, 2 has kelvin, 3 has a list of kelvins; the steps come in the wrong order."""
    history = History("Reading")
    history.step(2, lambda values: {"kelvins": [values["kelvin"]]})
    history.step(1, lambda values: {"kelvin": values["celsius"] + 273})
    return history


def test_the_newest_version_is_the_one_after_the_last_step(history):
    assert history.newest == 3
    assert History("Other", first=4).newest == 4


@pytest.mark.parametrize(("version", "values"), [(1, {"celsius": 20}), (2, {"kelvin": 293}), (3, {"kelvins": [293]})])
def test_every_version_leads_to_the_newest(history, version, values):
    assert history.upgrade(values, version=version) == {"kelvins": [293]}


def test_the_values_given_stay_as_they_are():
    history = History("Reading")
    history.step(1, lambda values: {"b": values.pop("a")})
    values = {"a": 1}
    assert history.upgrade(values, version=1) == {"b": 1}
    assert values == {"a": 1}


@pytest.mark.parametrize("version", [0, 4])
def test_a_version_that_never_was_is_an_error(history, version):
    with pytest.raises(SchemaError, match="versions 1 to 3"):
        history.upgrade({}, version=version)


def test_a_step_that_is_missing_is_named(history):
    history.step(4, dict)
    with pytest.raises(SchemaError, match="no step from version 3 to 4"):
        history.upgrade({"celsius": 1}, version=1)


def test_a_version_has_one_step(history):
    with pytest.raises(SchemaError, match="already"):
        history.step(1, dict)
