"""The account: signing in and out, contact details, the people one books for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent_envs.envs.web.sites._kit import Form, Pages, needs_user, redirect, safe_path, session_of, visit_of
from agent_envs.envs.web.sites._kit import read_form as read_body
from agent_envs.envs.web.sites.flights._ask import user_row
from agent_envs.envs.web.sites.flights._drafts import read_contact, read_person
from agent_envs.envs.web.sites.flights._fares import MEALS
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

SEATS = {"": "No preference", "window": "Window", "aisle": "Aisle"}
_NEW = 0


class AccountPages:
    """The pages of whoever is signed in."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        person = "/travellers/{traveller:row}"
        self.routes = [
            Route("/sign-in", self.sign_in, methods=["GET"], name="sign-in"),
            Route("/sign-in", self.put_sign_in, methods=["POST"]),
            Route("/sign-out", self.sign_out, methods=["POST"]),
            Route("/account", needs_user(self.account), methods=["GET"], name="account"),
            Route("/account", needs_user(self.put_account), methods=["POST"]),
            Route("/travellers", needs_user(self.travellers), name="travellers"),
            Route("/travellers/new", needs_user(_saved(self.put_traveller, self.traveller)), methods=["GET", "POST"]),
            Route(person, needs_user(_saved(self.put_traveller, self.traveller)), methods=["GET", "POST"]),
            Route(f"{person}/remove", needs_user(self.remove), methods=["POST"]),
        ]

    async def sign_in(self, request: Request) -> Response:
        """The sign-in form."""
        next_page = safe_path(request.query_params.get("next", "/trips"), "/trips")
        return self._pages.answer(request, "sign_in.html", form=Form(), next_page=next_page)

    async def put_sign_in(self, request: Request) -> Response:
        """Sign in, if address and password fit."""
        form = await read_body(request)
        email, password = form.need("email", "your e-mail address"), form.need("password", "your password")
        next_page = safe_path(form.text("next"), "/trips")
        row = (
            visit_of(request)
            .database.execute("SELECT id, name FROM users WHERE email = ? AND password = ?", [email.lower(), password])
            .fetchone()
        )
        if not form.errors and row is None:
            form.errors["email"] = "E-mail address and password do not fit together."
        if form.errors:
            form.fields.pop("password", None)
            return self._pages.answer(request, "sign_in.html", status=422, form=form, next_page=next_page)
        session = session_of(request)
        session.user = row["id"]
        session.say(f"Welcome back, {row['name']}.")
        return redirect(request, next_page)

    async def sign_out(self, request: Request) -> Response:
        """Sign out."""
        session = session_of(request)
        session.user = ""
        session.data.clear()
        session.say("You are signed out.")
        return redirect(request, "/")

    async def account(self, request: Request) -> Response:
        """Name and contact details."""
        row = user_row(request)
        fields = {name: [row[name]] for name in ("name", "email", "phone")} if row else {}
        return self._pages.answer(request, "account.html", form=Form(fields))

    async def put_account(self, request: Request) -> Response:
        """Change them."""
        form, user = await read_body(request), session_of(request).user
        name, (email, phone) = form.need("name", "your name", most=60), read_contact(form)
        database = visit_of(request).database
        if database.execute("SELECT 1 FROM users WHERE email = ? AND id != ?", [email, user]).fetchone():
            form.errors["email"] = "Another account has this e-mail address."
        if form.errors:
            return self._pages.answer(request, "account.html", status=422, form=form)
        database.execute("UPDATE users SET name = ?, email = ?, phone = ? WHERE id = ?", [name, email, phone, user])
        session_of(request).say("Your details are saved.")
        return redirect(request, "/account")

    async def travellers(self, request: Request) -> Response:
        """The people one books for."""
        rows = visit_of(request).database.execute(
            "SELECT * FROM travellers WHERE user_id = ? ORDER BY id", [session_of(request).user]
        )
        return self._pages.answer(request, "saved_travellers.html", people=rows.fetchall(), seats=SEATS)

    async def traveller(self, request: Request, number: int, form: Form) -> Response:
        """The form for one of them, or for a new one."""
        status = 422 if form.errors else 200
        return self._pages.answer(request, "saved_traveller.html", status=status, number=number, form=form, seats=SEATS)

    async def put_traveller(self, request: Request, number: int) -> Response:
        """Save one of them, or a new one."""
        form, visit = await read_body(request), visit_of(request)
        one = read_person(form, visit.now, visit.now.date())
        seat, meal = form.choose("seat", "a seat preference", list(SEATS)), form.choose("meal", "a meal", list(MEALS))
        if form.errors:
            return await self.traveller(request, number, form)
        values = [*one.values(), seat, meal]
        if number == _NEW:
            columns = "user_id, given_name, family_name, birth_date, passport, seat, meal"
            holes = ", ".join("?" * 7)
            row = [session_of(request).user, *values]
            visit.database.execute(f"INSERT INTO travellers ({columns}) VALUES ({holes})", row)
        else:
            columns = "given_name = ?, family_name = ?, birth_date = ?, passport = ?, seat = ?, meal = ?"
            visit.database.execute(f"UPDATE travellers SET {columns} WHERE id = ?", [*values, number])
        session_of(request).say(f"{one['given_name']} {one['family_name']} is saved.")
        return redirect(request, "/travellers")

    async def remove(self, request: Request) -> Response:
        """Forget one of them."""
        key = [request.path_params["traveller"], session_of(request).user]
        visit_of(request).database.execute("DELETE FROM travellers WHERE id = ? AND user_id = ?", key)
        session_of(request).say("The traveller is removed.")
        return redirect(request, "/travellers")


def _saved(
    put: Callable[[Request, int], Awaitable[Response]], show: Callable[[Request, int, Form], Awaitable[Response]]
) -> Callable[[Request], Awaitable[Response]]:
    """A page on one saved traveller of the user; without a number: on a new one."""

    async def guarded(request: Request) -> Response:
        number = request.path_params.get("traveller", _NEW)
        row = (
            visit_of(request)
            .database.execute(
                "SELECT * FROM travellers WHERE id = ? AND user_id = ?", [number, session_of(request).user]
            )
            .fetchone()
        )
        if row is None and number != _NEW:
            session_of(request).say("There is no such traveller.", "error")
            return redirect(request, "/travellers")
        if request.method == "POST":
            return await put(request, number)
        return await show(request, number, Form({name: [str(row[name])] for name in row.keys()} if row else {}))  # noqa: SIM118

    return guarded
