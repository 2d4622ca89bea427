import pytest

from wiretap import Field, Schema, SchemaError, parse_schemas


def test_fields_are_in_the_order_of_their_numbers():
    schema = Schema("S", [Field(2, "b", "text"), Field(1, "a", "uint")])
    assert [field.name for field in schema.fields] == ["a", "b"]


@pytest.mark.parametrize(
    ("number", "kind", "options", "message"),
    [
        (0, "text", {}, "number 0"),
        (1 << 29, "text", {}, "number"),
        (1, "string", {}, "kind 'string'"),
        (1, "uint", {"default": "one"}, "default of field f"),
        (1, "uint", {"default": 1, "repeated": True}, "cannot have a default"),
    ],
)
def test_a_field_that_cannot_be_is_refused(number, kind, options, message):
    with pytest.raises(SchemaError, match=message):
        Field(number, "f", kind, **options)


def test_names_and_numbers_are_used_once():
    with pytest.raises(SchemaError, match="same name"):
        Schema("S", [Field(1, "a", "uint"), Field(2, "a", "uint")])
    with pytest.raises(SchemaError, match="same number"):
        Schema("S", [Field(1, "a", "uint"), Field(1, "b", "uint")])


def test_schemas_can_be_written_as_text(schemas):
    assert list(schemas) == ["Place", "Reading"]
    assert schemas["Reading"].by_name["place"].kind is schemas["Place"]
    assert schemas["Reading"].by_name["count"].default == 1
    assert schemas["Reading"].by_name["tags"].repeated


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("message A {\n  1: a text\n", "A is not closed"),
        ("message A {\n  a text\n}", "line 2: 'a text' cannot be read"),
        ("message A {\n  1: a string\n}", "line 2: field a is of the kind 'string'"),
        ("message A {\n  1: a uint = x\n}", "line 2: 'x' is no constant"),
        ("1: a text", "line 1"),
    ],
)
def test_a_text_that_is_no_schema_names_the_line(text, message):
    with pytest.raises(SchemaError, match=message):
        parse_schemas(text)
