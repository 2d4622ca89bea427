"""Looking around: the front page, lists, suggestions while typing, a product with its reviews, a comparison."""

from __future__ import annotations

from agent_envs.envs.web.sites._kit import Form, needs_user, read_form, redirect, safe_path, session_of
from agent_envs.envs.web.sites.shop._categories import by_slug, categories
from agent_envs.envs.web.sites.shop._common import database_of, pages, today_of, user_of, words_of
from agent_envs.envs.web.sites.shop._shelf import SORTS, Item, items, listing, search
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

_COMPARED = 4
_SUGGESTED = 6


async def home(request: Request) -> Response:
    """The front page."""
    database = database_of(request)
    reduced = sorted(items(database, "WHERE p.was > 0"), key=lambda one: (one.cents / one.was, one.id))
    seen = items_by_id(request, session_of(request).data.get("seen", []))
    return pages.answer(request, "home.html", reduced=[one for one in reduced if one.stock][:4], seen=seen[:4])


async def category(request: Request) -> Response:
    """All products of a category."""
    kind = by_slug().get(request.path_params["slug"])
    if kind is None:
        raise HTTPException(404)
    form = words_of(request)
    found = listing(items(database_of(request), "WHERE p.category = ?", [kind.slug]), form)
    return pages.answer(request, "list.html", heading=kind.name, kind=kind, listing=found, form=form, sorts=SORTS)


async def results(request: Request) -> Response:
    """What a search finds."""
    form = words_of(request)
    found, loose = search(database_of(request), form.text("q"))
    shown = listing(found, form, loose=loose)
    heading = f"Results for “{form.text('q')}”" if form.text("q") else "Search"
    return pages.answer(request, "list.html", heading=heading, kind=None, listing=shown, form=form, sorts=SORTS)


async def offers(request: Request) -> Response:
    """Vouchers, and everything that is reduced."""
    form = words_of(request)
    vouchers = database_of(request).execute("SELECT * FROM vouchers ORDER BY code").fetchall()
    shown = listing(items(database_of(request), "WHERE p.was > 0"), form)
    return pages.answer(
        request, "list.html", heading="Offers", kind=None, listing=shown, form=form, sorts=SORTS,
        vouchers=[one for one in vouchers if one["ends"] >= today_of(request).isoformat()],
    )  # fmt: skip


async def suggest(request: Request) -> Response:
    """What might be meant by the first letters of a search: categories and products."""
    text = request.query_params.get("q", "").strip().lower()
    if len(text) < 2:
        return JSONResponse([])
    kinds = [{"label": one.name, "url": f"/c/{one.slug}"} for one in categories() if text in one.name.lower()]
    found, loose = search(database_of(request), text)
    found.sort(key=lambda one: (-one.score, -one.count, one.id))
    named = [{"label": one.name, "url": f"/p/{one.slug}"} for one in ([] if loose else found)]
    return JSONResponse([*kinds[:2], *named][:_SUGGESTED], headers={"cache-control": "no-store"})


async def product(request: Request) -> Response:
    """A product, what it is made of and what people say."""
    return _product_page(request, _find(request), Form())


@needs_user
async def review(request: Request) -> Response:
    """Publish a review; one per user and product."""
    item, form, user = _find(request), await read_form(request), user_of(request)
    form.choose("stars", "a number of stars", ["1", "2", "3", "4", "5"])
    title = form.need("title", "a headline", most=80)
    body = form.need("body", "what you think", most=2000)
    if form.errors:
        return _product_page(request, item, form, status=422)
    database = database_of(request)
    old = database.execute("SELECT id FROM reviews WHERE product = ? AND user = ?", [item.id, user["email"]]).fetchone()
    (last,) = database.execute("SELECT MAX(id) FROM reviews").fetchone()
    author = user["name"].split()[0] + " " + user["name"].split()[-1][0] + "."
    database.execute(
        "INSERT OR REPLACE INTO reviews VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [old["id"] if old else last + 1, item.id, user["email"], author, form.number("stars"), title, body,
         today_of(request).isoformat()],
    )  # fmt: skip
    session_of(request).say("Thank you. Your review is published.")
    return redirect(request, f"/p/{item.slug}#reviews")


async def compare(request: Request) -> Response:
    """Up to four products side by side."""
    chosen = items_by_id(request, session_of(request).data.get("compare", []))
    rows = list(dict.fromkeys(name for one in chosen for name in one.specs))
    return pages.answer(request, "compare.html", chosen=chosen, rows=rows)


async def change_comparison(request: Request) -> Response:
    """Put a product into the comparison or take it out."""
    form, session = await read_form(request), session_of(request)
    chosen = [one for one in session.data.get("compare", []) if one != form.number("product")]
    if form.text("do") == "add":
        found = items_by_id(request, [form.number("product")])
        if not found:
            raise HTTPException(404)
        if len(chosen) >= _COMPARED:
            session.say(f"You can compare {_COMPARED} products at most. Take one out first.", "error")
        else:
            chosen.append(found[0].id)
            session.say(f"{found[0].name} is in your comparison.")
    session.data["compare"] = chosen
    return redirect(request, safe_path(form.text("next"), "/compare"))


def items_by_id(request: Request, ids: list[int]) -> list[Item]:
    """The products with these ids, in this order."""
    found = {one.id: one for one in items(database_of(request), f"WHERE p.id IN ({', '.join('?' * len(ids))})", ids)}
    return [found[one] for one in ids if one in found]


def _find(request: Request) -> Item:
    found = items(database_of(request), "WHERE p.slug = ?", [request.path_params["slug"]])
    if not found:
        raise HTTPException(404)
    return found[0]


def _product_page(request: Request, item: Item, form: Form, *, status: int = 200) -> Response:
    database, session = database_of(request), session_of(request)
    session.data["seen"] = [item.id, *(one for one in session.data.get("seen", []) if one != item.id)][:6]
    reviews = database.execute(
        "SELECT * FROM reviews WHERE product = ? ORDER BY written DESC, id", [item.id]
    ).fetchall()
    wished = database.execute("SELECT 1 FROM wishes WHERE user = ? AND product = ?", [session.user, item.id]).fetchone()
    return pages.answer(
        request, "product.html", status=status, item=item, form=form, wished=bool(wished), reviews=reviews,
        variants=database.execute("SELECT * FROM variants WHERE product = ? ORDER BY id", [item.id]).fetchall(),
        mine=next((one for one in reviews if session.user and one["user"] == session.user), None),
        stars=[(n, sum(one["stars"] == n for one in reviews)) for n in (5, 4, 3, 2, 1)],
    )  # fmt: skip
