import unittest

from confetti import Config, Field, Invalid, Schema, from_dict

SCHEMA = Schema(
    {
        "host": Field(),
        "port": Field(type=int, required=False, default=80, maximum=65535),
        "debug": Field(type=list, required=False),
        "name": Field(required=False, default="x"),
    }
)


def validated(values):
    return SCHEMA.validate(Config.load(from_dict(values, name="test")))


class OptionalFields(unittest.TestCase):
    def problems(self, values):
        with self.assertRaises(Invalid) as caught:
            validated(values)
        return caught.exception.problems

    def test_missing(self):
        assert validated({"host": "h"}) == {"host": "h", "port": 80, "debug": None, "name": "x"}

    def test_right(self):
        values = {"host": "h", "port": "81", "debug": "a,b", "name": "${host}"}
        assert validated(values) == {"host": "h", "port": 81, "debug": ["a", "b"], "name": "h"}

    def test_another_type(self):
        assert self.problems({"host": "h", "port": "eighty"}) == ["port is 'eighty' (from test); expected an integer"]

    def test_out_of_range(self):
        assert self.problems({"host": "h", "port": 65536}) == ["port is 65536 (from test); expected at most 65535"]

    def test_a_reference_to_nothing(self):
        assert self.problems({"host": "h", "name": "${none}"}) == [
            "${none} refers to 'none', which no layer has"
        ]

    def test_all_problems_in_order(self):
        found = self.problems({"name": "${none}", "debug": 5, "port": "x"})
        assert found == [
            "no layer has 'host'",
            "port is 'x' (from test); expected an integer",
            "debug is 5 (from test); expected a list",
            "${none} refers to 'none', which no layer has",
        ]

    def test_nothing_is_there_too(self):
        assert self.problems({"host": "h", "port": None}) == ["port is None (from test); expected an integer"]
        assert self.problems({"host": "h", "port": ""}) == ["port is '' (from test); expected an integer"]
        assert self.problems({"host": "h", "name": None}) == ["name is None (from test); expected a text"]

    def test_what_counts_as_false_is_there_too(self):
        values = {"host": "h", "port": 0, "debug": "", "name": ""}
        assert validated(values) == {"host": "h", "port": 0, "debug": [], "name": ""}

    def test_a_table_in_the_place_of_a_value(self):
        assert self.problems({"host": "h", "port": {"x": 1}}) == ["port is {'x': 1}; expected an integer"]

    def test_a_circle(self):
        assert self.problems({"host": "h", "name": "${port}", "port": "${name}"}) == [
            "references lead in a circle: port -> name -> port",
            "references lead in a circle: name -> port -> name",
        ]

    def test_a_reference_to_a_value_of_another_type(self):
        assert self.problems({"host": "h", "port": "${host}"}) == ["port is 'h' (from test); expected an integer"]
        assert validated({"host": "80", "port": "${host}"})["port"] == 80
