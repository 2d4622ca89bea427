from datetime import timedelta

import pytest

from chronicle import ChronicleError, Intervals


@pytest.fixture
def hours(at):
    def hours(*pairs):
        return Intervals((at(8, start), at(8, end)) for start, end in pairs)

    return hours


def pairs(intervals):
    return [(interval.start.hour, interval.end.hour) for interval in intervals]


@pytest.mark.parametrize(
    ("given", "merged"),
    [
        ([(9, 10), (11, 12)], [(9, 10), (11, 12)]),
        ([(11, 12), (9, 10)], [(9, 10), (11, 12)]),
        ([(9, 10), (10, 11)], [(9, 11)]),
        ([(9, 12), (10, 11)], [(9, 12)]),
        ([(9, 9)], []),
    ],
)
def test_intervals_that_touch_are_one(hours, given, merged):
    assert pairs(hours(*given)) == merged
    assert len(hours(*given)) == len(merged)


@pytest.mark.parametrize(
    ("first", "second", "union", "both", "left"),
    [
        ([(9, 12)], [(11, 14)], [(9, 14)], [(11, 12)], [(9, 11)]),
        ([(9, 12)], [(10, 11)], [(9, 12)], [(10, 11)], [(9, 10), (11, 12)]),
        ([(9, 12)], [(12, 13)], [(9, 13)], [], [(9, 12)]),
        ([(9, 12)], [(8, 13)], [(8, 13)], [(9, 12)], []),
        ([(8, 10), (12, 14)], [(9, 13)], [(8, 14)], [(9, 10), (12, 13)], [(8, 9), (13, 14)]),
        ([(9, 12)], [], [(9, 12)], [], [(9, 12)]),
    ],
)
def test_sets_of_intervals(hours, first, second, union, both, left):
    assert pairs(hours(*first) | hours(*second)) == union
    assert pairs(hours(*first) & hours(*second)) == both
    assert pairs(hours(*first) - hours(*second)) == left


def test_an_interval_holds_its_start_and_not_its_end(hours, at):
    assert at(8, 9) in hours((9, 10))
    assert at(8, 10) not in hours((9, 10))


def test_the_total_is_the_sum_of_the_lengths(hours):
    assert hours((9, 10), (11, 13)).total == timedelta(hours=3)


def test_an_interval_cannot_end_before_it_starts(hours):
    with pytest.raises(ChronicleError, match="cannot end"):
        hours((10, 9))
