"""The shop behaves like a shop: what is found, bought, cancelled, sent back and changed is what was asked for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from agent_envs.envs.web.sites._kit import card_token, luhn
from agent_envs.envs.web.sites.shop import SHOP
from agent_envs.envs.web.sites.shop._people import customers

from agent_envs.errors import TaskError
from agent_envs.sites import World

Begin = Callable[..., Any]
SEED = 3
USER, NAME, PASSWORD = customers(SEED)[0]
PAGES = (
    "/", "/c/tents", "/c/tents?sort=rating&page=2&stock=1", "/search?q=black+kettle", "/search?q=no+such+thing",
    "/search", "/offers", "/compare", "/help", "/cart", "/orders", "/account", "/account/profile", "/account/addresses",
    "/account/addresses/new", "/wishes", "/sign-in", "/suggest?q=gra",
)  # fmt: skip
CARD = {"card_name": NAME, "card_number": "4242 4242 4242 4242", "card_expiry": "11/29", "card_code": "123"}


@pytest.fixture
def me(visitor: Begin) -> Any:
    """The customer with the longest history, signed in."""
    return visitor(SHOP, World(seed=SEED, user=USER))


def variant(me: Any, *, least: int = 4, category: str = "kettles") -> tuple[int, str, int, int]:
    """A variant in stock: its id, the address and the price of its product, its stock."""
    sql = (
        "SELECT v.id, slug, cents, stock FROM variants v JOIN products p ON p.id = v.product"
        " WHERE stock >= ? AND category = ? ORDER BY v.id"
    )
    found: tuple[int, str, int, int] = me.rows(sql, least, category)[0]
    return found


def test_the_catalogue_has_more_than_three_hundred_products_of_which_no_two_are_alike(me: Any) -> None:
    names = [name for (name,) in me.rows("SELECT name FROM products")]
    assert len(names) > 300
    assert len(set(names)) == len(names)
    prices = me.rows("SELECT category, cents FROM products")
    assert len(set(prices)) == len(prices), "the cheapest of a category must be one product"


@pytest.mark.parametrize("path", PAGES)
def test_every_page_answers_and_is_the_same_bytes_for_the_same_world(visitor: Begin, path: str) -> None:
    first, second = (visitor(SHOP, World(seed=SEED, user=USER)) for _ in range(2))
    assert first.get(path).status == 200
    assert second.get(path).body == visitor(SHOP, World(seed=SEED, user=USER)).get(path).body


def test_every_link_of_the_front_pages_leads_somewhere(me: Any) -> None:
    links = {link for path in ("/", "/c/phones", "/orders", "/account", "/wishes") for link in me.get(path).links}
    dead = [link for link in sorted(links) if link.startswith("/") and me.get(link).status != 200]
    assert dead == []


def test_looking_around_changes_nothing_that_is_judged(me: Any) -> None:
    for path in PAGES:
        me.get(path)
    me.post("/compare", product=1, do="add", next="/compare")
    assert me.changes() == {}


@pytest.mark.parametrize(
    ("query", "first"), [("graphics card", "graphics-cards"), ("kettle", "kettles"), ("tent", "tents")]
)
def test_a_search_puts_what_is_meant_first(me: Any, query: str, first: str) -> None:
    slugs = [link.removeprefix("/p/") for link in me.get("/search", q=query).links if link.startswith("/p/")]
    kinds = [me.rows("SELECT category FROM products WHERE slug = ?", slug)[0][0] for slug in slugs]
    assert kinds == [first] * 12


def test_filters_narrow_and_pages_hold_every_product_once(me: Any) -> None:
    wanted = me.rows("SELECT slug FROM products WHERE category = 'phones' AND cents <= 60000 ORDER BY cents")
    seen = []
    for page in (1, 2, 3):
        shown = me.get("/c/phones", max="600", sort="cheap", page=page)
        if f"page {page} of" in shown.text or page == 1:
            seen += [link.removeprefix("/p/") for link in shown.links if link.startswith("/p/")]
    assert seen == [slug for (slug,) in wanted]
    assert " 256 GB" in me.get("/c/phones", s_storage="256 GB").text


def test_a_guest_keeps_the_cart_when_signing_in(visitor: Begin) -> None:
    guest = visitor(SHOP, World(seed=SEED))
    bought, *_ = variant(guest)
    guest.post("/cart/add", variant=bought, quantity=2)
    assert "do not match" in guest.post("/sign-in", email=USER, password="wrong", next="/cart").text
    assert "Welcome back" in guest.post("/sign-in", email=USER, password=PASSWORD, next="/cart").text
    assert guest.changes() == {"cart_items": {"added": [{"owner": USER, "variant": bought, "quantity": 2}]}}


def test_an_order_is_what_was_in_the_cart_and_takes_it_from_the_stock(me: Any) -> None:
    bought, _, cents, stock = variant(me)
    me.post("/cart/add", variant=bought, quantity=2)
    me.post("/checkout", address="11", shipping="express", gift_note="")
    assert "is placed" in me.post("/checkout/payment", **CARD).text
    changed = me.changes()
    assert set(changed) == {"orders", "order_items", "variants"}
    (order,) = changed["orders"]["added"]
    assert (order["items_cents"], order["total_cents"]) == (2 * cents, 2 * cents + 1290)
    assert changed["variants"]["changed"][0]["after"]["stock"] == stock - 2


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("card_number", "4242 4242 4242 4241", "not valid"),
        ("card_expiry", "02/26", "has expired"),
        ("card_expiry", "13/29", "MM/YY"),
        ("card_code", "12", "3 or 4 digits"),
        ("card_name", "", "Enter the name"),
    ],
)
def test_a_card_with_a_mistake_buys_nothing(me: Any, field: str, value: str, problem: str) -> None:
    bought, *_ = variant(me)
    me.post("/cart/add", variant=bought, quantity=1)
    me.post("/checkout", address="11", shipping="standard")
    answer = me.post("/checkout/payment", **{**CARD, field: value})
    assert (answer.status, problem in answer.text) == (422, True)
    assert set(me.changes()) == {"cart_items"}


def test_no_more_can_be_had_than_there_is(me: Any) -> None:
    (bought, stock), *_ = me.rows("SELECT id, stock FROM variants WHERE stock BETWEEN 1 AND 3 ORDER BY id")
    assert "in stock" in me.post("/cart/add", variant=bought, quantity=stock + 1).text
    assert me.changes() == {}
    me.post("/cart/add", variant=bought, quantity=stock)
    me.visit.database.execute("UPDATE variants SET stock = 0 WHERE id = ?", [bought])
    assert "no longer in stock" in me.get("/checkout").text


def test_a_voucher_counts_where_its_conditions_are_met(me: Any) -> None:
    bought, _, cents, _ = variant(me, category="kettles")
    codes = {code[:-2]: code for (code,) in me.rows("SELECT code FROM vouchers")}
    me.post("/cart/add", variant=bought, quantity=1)
    for name, answer in (("WINTER", "expired"), ("SOUND", "Sound only"), ("THIRTY", "at least"), ("KITCHEN", "off")):
        assert answer in me.post("/cart/voucher", code=codes[name]).text
    off = cents * 20 // 100
    assert f"-${off / 100:.2f}" in me.get("/cart").text


def test_a_cancelled_order_puts_everything_back(me: Any) -> None:
    ((order,),) = me.rows("SELECT number FROM orders WHERE user = ? AND status = 'processing'", USER)
    assert "Choose a reason" in me.post(f"/orders/{order}/cancel").text
    assert "is cancelled" in me.post(f"/orders/{order}/cancel", reason="No longer needed").text
    assert set(me.changes()) == {"orders", "variants"}
    assert "no longer be cancelled" in me.post(f"/orders/{order}/cancel", reason="No longer needed").text


def test_only_what_was_delivered_lately_can_be_sent_back(me: Any) -> None:
    found = me.rows("SELECT number, delivered FROM orders WHERE user = ? ORDER BY placed", USER)
    recent = max((delivered, number) for number, delivered in found if delivered)[1]
    old = min((delivered, number) for number, delivered in found if delivered)[1]
    item = me.rows("SELECT variant FROM order_items WHERE order_number = ?", recent)[0][0]
    assert "Choose at least one item" in me.post(f"/orders/{recent}/return", reason="Does not work").text
    sent = me.post(f"/orders/{recent}/return", item=item, reason="Does not work", remedy="refund")
    assert "Your return is registered" in sent.text
    assert "Nothing of this order" in me.get(f"/orders/{old}/return").text
    assert set(me.changes()) == {"returns"}


def test_nobody_sees_what_belongs_to_somebody_else(me: Any) -> None:
    ((order, address),) = me.rows(
        "SELECT MIN(number), MIN(a.id) FROM orders o JOIN addresses a ON a.user = o.user WHERE o.user != ?", USER
    )
    for path in (f"/orders/{order}", f"/orders/{order}/return", f"/account/addresses/{address}"):
        assert me.get(path).status == 404
    assert me.post(f"/orders/{order}/cancel", reason="No longer needed").status == 404
    assert me.changes() == {}


def test_what_people_write_is_text_and_never_markup(me: Any) -> None:
    _, slug, *_ = variant(me)
    attack = '"><script>alert(1)</script>'
    me.post(f"/p/{slug}/reviews", stars="4", title=attack, body=attack)
    me.post("/account/profile", full_name=attack, phone="555-123-4567", newsletter="weekly")
    for path in (f"/p/{slug}", "/account", "/account/profile"):
        assert "<script>alert" not in me.get(path).body
    assert "<script>alert" not in me.get("/search", q=attack, brand=attack, min=attack).body
    assert me.get("/sign-in", next="//evil.test").status == 200
    assert "alert(1)" in me.get(f"/p/{slug}").text


@pytest.mark.parametrize("path", ["/nothing", "/p/none", "/c/none", "/orders/M-1", "/account/addresses/999999"])
def test_an_address_where_nothing_is_says_so(me: Any, path: str) -> None:
    answer = me.get(path)
    assert (answer.status, "There is no such page" in answer.text) == (404, True)


def test_every_field_has_a_label_and_every_button_a_name(me: Any) -> None:
    bought, slug, *_ = variant(me)
    me.post("/cart/add", variant=bought, quantity=1)
    for path in (*PAGES[:-2], f"/p/{slug}", "/checkout"):
        body = me.get(path).body
        labelled = set(re.findall(r'<label[^>]* for="([^"]+)"', body))
        fields = set(re.findall(r'<(?:input|select|textarea)(?![^>]*type="hidden")[^>]* id="([^"]+)"', body))
        assert fields - labelled == set(), path
        assert re.search(r"<button[^>]*>\s*</button>", body) is None
        assert len(re.findall(r"<h1\b", body)) == 1, path
        ids = re.findall(r'\sid="([^"]+)"', body)
        assert len(ids) == len(set(ids)), path


def test_a_world_for_somebody_unknown_is_refused(visitor: Begin) -> None:
    with pytest.raises(TaskError, match="nobody at the shop"):
        visitor(SHOP, World(seed=SEED, user="nobody@example.com"))
    with pytest.raises(TaskError, match="no option 'carts'"):
        visitor(SHOP, World(seed=SEED, options={"carts": []}))


@pytest.mark.parametrize(("number", "valid"), [("4242424242424242", True), ("4242424242424241", False), ("1", False)])
def test_a_card_number_has_a_check_digit(number: str, valid: bool) -> None:
    assert luhn(number) is valid


def test_a_card_has_one_token_however_it_is_spelled_and_no_other_card_has_it() -> None:
    card = {"name": "Ada Byron", "expiry": "04/28", "code": "123"}
    token = card_token("4242 4242 4242 4242", **card)
    assert token == card_token("4242-4242-4242-4242", name=" ada  BYRON", expiry="04 / 2028", code="123")
    slips = [{"name": "Ada B"}, {"expiry": "05/28"}, {"code": "124"}]
    others = [card_token("4242424242424242", **card | slip) for slip in slips]
    assert token not in [*others, card_token("5555555555554242", **card)]


@pytest.mark.parametrize("number", ["9" * 20, "9" * 5000])
def test_no_number_in_an_address_breaks_the_shop(me: Any, number: str) -> None:
    assert me.get(f"/account/addresses/{number}").status == 404
    assert me.post(f"/account/addresses/{number}/delete").status == 404


@pytest.mark.parametrize("query", ["a" * 60_000, "word " * 2_000, " ".join(f"w{n}" for n in range(3_000))])
def test_no_search_breaks_the_shop(me: Any, query: str) -> None:
    assert me.get("/search", q=query).status == 200
    assert me.get("/suggest", q=query).status == 200
