import pytest

from tasklane import Backoff


@pytest.mark.parametrize(("attempts", "pause"), [(1, 5), (2, 10), (3, 20), (10, 2560), (11, 3600), (5000, 3600)])
def test_pauses_grow_up_to_the_limit(attempts, pause):
    assert Backoff().pause(attempts) == pause


def test_there_is_no_pause_before_the_first_attempt():
    with pytest.raises(ValueError, match="at least 1"):
        Backoff().pause(0)
