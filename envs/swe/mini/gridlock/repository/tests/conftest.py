import pytest

from gridlock import Sheet


@pytest.fixture
def sheet():
    return Sheet()


@pytest.fixture
def value_of(sheet):
    """The value of a formula in Z1 of the sheet."""

    def value_of(text):
        sheet.set("Z1", text)
        return sheet.value("Z1")

    return value_of
