import pytest

from confetti import Config, from_dict


@pytest.fixture
def load():
    """A configuration of trees, the last one winning; their layers are called 1, 2, ..."""

    def loaded(*trees):
        return Config.load(*(from_dict(tree, name=str(number)) for number, tree in enumerate(trees, start=1)))

    return loaded
