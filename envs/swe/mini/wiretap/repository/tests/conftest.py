import pytest

from wiretap import parse_schemas

TEXT = """
message Place {
  1: x f64
  2: y f64
}

message Reading {
  1: sensor text
  2: value f64
  3: offset int
  4: tags text[]
  5: place Place
  6: count uint = 1
  7: valid bool
  9: blob bytes
}
"""


@pytest.fixture(scope="session")
def schemas():
    return parse_schemas(TEXT)


@pytest.fixture(scope="session")
def reading(schemas):
    return schemas["Reading"]
