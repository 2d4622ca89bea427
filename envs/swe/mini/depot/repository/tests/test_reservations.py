import pytest

from depot import DepotError, ShortOfStock


@pytest.fixture
def tea(shop):
    shop.receive("TEA", "3 box")
    return shop


def test_reserved_stock_is_not_available(tea):
    tea.book.reserve("TEA", "1 box", until=100)
    assert tea.book.reserved("TEA") == 20
    assert tea.book.available("TEA") == 40
    assert tea.ledger.on_hand("TEA") == 60


def test_only_what_is_available_can_be_reserved(tea):
    tea.book.reserve("TEA", "2 box", until=100)
    with pytest.raises(ShortOfStock, match="21 of TEA asked for, 20 available"):
        tea.book.reserve("TEA", "21 bag", until=100)


@pytest.mark.parametrize(("now", "available"), [(0, 40), (99, 40), (100, 60), (101, 60)])
def test_a_reservation_holds_until_its_moment(tea, now, available):
    tea.book.reserve("TEA", "1 box", until=100)
    assert tea.book.available("TEA", now=now) == available


def test_released_stock_is_available_again(tea):
    held = tea.book.reserve("TEA", "1 box", until=100)
    assert tea.book.release(held.number) == held
    assert tea.book.available("TEA") == 60
    with pytest.raises(DepotError, match="no open reservation 1"):
        tea.book.release(held.number)


def test_fulfilling_issues_the_stock(tea):
    held = tea.book.reserve("TEA", "1 box", until=100)
    tea.book.fulfil(held.number)
    assert (tea.ledger.on_hand("TEA"), tea.book.reserved("TEA")) == (40, 0)
    assert tea.ledger.history[-1].reference == "R1"


def test_a_part_can_be_fulfilled_in_another_unit(tea):
    held = tea.book.reserve("TEA", "2 box", until=100)
    tea.book.fulfil(held.number, "15 bag")
    assert (tea.ledger.on_hand("TEA"), tea.book.reserved("TEA")) == (45, 25)


def test_no_more_than_reserved_can_be_fulfilled(tea):
    held = tea.book.reserve("TEA", "1 box", until=100)
    with pytest.raises(DepotError, match="not for 21"):
        tea.book.fulfil(held.number, "21")
    assert tea.ledger.on_hand("TEA") == 60


def test_expired_reservations_are_named_and_forgotten(tea):
    early = tea.book.reserve("TEA", "5", until=10)
    late = tea.book.reserve("TEA", "6", until=20)
    assert tea.book.expire(now=10) == [early]
    assert list(tea.book) == [late]
