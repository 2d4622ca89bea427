import pytest

from ledger import Money


def shares(text, weights, currency="EUR"):
    return [share.plain() for share in Money.parse(text, currency).allocate(weights)]


def test_spare_cents_go_to_the_first_shares_one_each():
    assert shares("100.00", [1] * 7) == ["14.29", "14.29", "14.29", "14.29", "14.28", "14.28", "14.28"]


@pytest.mark.parametrize(
    ("text", "weights", "expected"),
    [
        ("0.05", [1, 1], ["0.03", "0.02"]),
        ("10.00", [1, 1, 1], ["3.34", "3.33", "3.33"]),
        ("0.02", [1, 1, 1], ["0.01", "0.01", "0.00"]),
        ("1.00", [3, 3, 1], ["0.43", "0.43", "0.14"]),
        ("7.77", [5], ["7.77"]),
    ],
)
def test_shares(text, weights, expected):
    assert shares(text, weights) == expected


def test_a_refund_is_shared_like_the_bill():
    assert shares("-100.00", [1] * 7) == ["-14.29", "-14.29", "-14.29", "-14.29", "-14.28", "-14.28", "-14.28"]
    assert shares("-0.05", [1, 1]) == ["-0.03", "-0.02"]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ([0, 1, 1], ["0.00", "0.03", "0.02"]),
        ([1, 0, 1], ["0.03", "0.00", "0.02"]),
        ([0, 0, 2], ["0.00", "0.00", "0.05"]),
    ],
)
def test_weight_nought_gets_nothing(weights, expected):
    assert shares("0.05", weights) == expected


def test_currency_without_decimals():
    assert shares("100", [1, 1, 1], "JPY") == ["34", "33", "33"]


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        (-1001, [-364, 0, -273, -182, -182]),
        (-7, [-3, 0, -2, -1, -1]),
        (0, [0, 0, 0, 0, 0]),
        (1, [1, 0, 0, 0, 0]),
        (99, [36, 0, 27, 18, 18]),
        (12345, [4490, 0, 3367, 2244, 2244]),
    ],
)
def test_shares_add_up(units, expected):
    assert [part.units for part in Money(units, "EUR").allocate([4, 0, 3, 2, 2])] == expected


@pytest.mark.parametrize(
    ("text", "weights", "expected"),
    [
        ("0.10", [1, 2, 4], ["0.02", "0.03", "0.05"]),
        ("0.11", [4, 2, 1], ["0.07", "0.03", "0.01"]),
        ("1.00", [1, 5, 3, 2], ["0.10", "0.45", "0.27", "0.18"]),
        ("-1.00", [1, 5, 3, 2], ["-0.10", "-0.45", "-0.27", "-0.18"]),
        ("-0.05", [0, 1, 1], ["0.00", "-0.03", "-0.02"]),
        ("-0.01", [3, 5], ["-0.01", "0.00"]),
        ("0.00", [1, 2], ["0.00", "0.00"]),
    ],
)
def test_the_first_shares_get_it_whatever_their_weights(text, weights, expected):
    assert shares(text, weights) == expected


@pytest.mark.parametrize(
    ("text", "weights", "expected"),
    [
        ("90071992547409.93", [1, 1], ["45035996273704.97", "45035996273704.96"]),
        ("900719925474099.95", [1, 1, 1], ["300239975158033.32", "300239975158033.32", "300239975158033.31"]),
        ("-90071992547409930.01", [1, 2], ["-30023997515803310.01", "-60047995031606620.00"]),
        ("1.00", [10**18, 10**18 + 1, 10**18], ["0.34", "0.33", "0.33"]),
    ],
)
def test_no_cent_of_a_large_amount_is_lost(text, weights, expected):
    assert shares(text, weights) == expected
