"""Pages from templates that are loaded once. Styles and scripts are inside of them: a page is one answer."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from agent_envs.sites import VISIT, Visit

_KIT = Path(__file__).parent
_POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data:;"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def visit_of(request: Request) -> Visit:
    """The visit that a request belongs to: its database, its clock."""
    visit: Visit = request.scope[VISIT]
    return visit


class Pages:
    """The templates of one site and what every one of them knows."""

    def __init__(
        self, folder: Path, *, common: Callable[[Request], Mapping[str, Any]], words: Mapping[str, Any] | None = None
    ) -> None:
        """`common` gives the values that every page needs; `words` are functions and constants for the templates."""
        loader = ChoiceLoader([FileSystemLoader(folder / "templates"), FileSystemLoader(_KIT / "templates")])
        self._templates = Environment(
            loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
            auto_reload=False, cache_size=-1,
        )  # fmt: skip
        self._templates.filters.update(money=money, day=day)
        held = _static(folder)
        self._templates.globals.update(words or {}, inline=held.__getitem__, picture=_picture(held))
        scripts = " ".join(_source(text) for name, text in held.items() if name.endswith(".js"))
        self._headers = {"cache-control": "no-store", "content-security-policy": _POLICY.format(scripts=scripts)}
        self._common = common

    def answer(self, request: Request, name: str, /, *, status: int = 200, **values: Any) -> Response:
        """The page that a template makes."""
        html = self._templates.get_template(name).render({"request": request, **self._common(request), **values})
        return _with_cookie(request, HTMLResponse(html, status, self._headers))


def _static(folder: Path) -> dict[str, str]:
    """The texts in the `static` folders of the kit and of a site, by name."""
    files = [path for top in (_KIT, folder) for path in sorted((top / "static").iterdir()) if path.is_file()]
    return {path.name: path.read_text(encoding="utf-8") for path in files}


def _source(script: str) -> str:
    """A script as a policy names it."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


def _picture(held: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: f"data:image/svg+xml;base64,{b64encode(held[name].encode()).decode()}"


def redirect(request: Request, path: str) -> Response:
    """Answer with another page of this site, to be asked for with GET."""
    return _with_cookie(request, RedirectResponse(path, 303))


def safe_path(path: str, default: str = "/") -> str:
    """A path of this site that came from outside, or `default` where it would lead to another one."""
    return path if path.startswith("/") and path[1:2] not in ("/", "\\") and path.isprintable() else default


def money(cents: int, sign: str = "$") -> str:
    """`$1,234.50`"""
    return f"{'-' if cents < 0 else ''}{sign}{abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def day(value: str | date | datetime) -> str:
    """`10 March 2026`, from a date or the text of one."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    return f"{value.day} {value:%B %Y}"


def _with_cookie(request: Request, response: Response) -> Response:
    session = request.scope.get("kit.session")
    if session is not None:
        session.save()
        if session.fresh:
            response.set_cookie("session", session.token, httponly=True, samesite="lax")
    return response
