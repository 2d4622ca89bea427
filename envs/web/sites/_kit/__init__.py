"""What the bundled sites share: pages, forms, sessions. A request knows its `Visit` and nothing else."""

from __future__ import annotations

from agent_envs.envs.web.sites._kit._cards import card_digits, card_token, luhn
from agent_envs.envs.web.sites._kit._forms import Form, read_form
from agent_envs.envs.web.sites._kit._pages import Pages, day, money, redirect, safe_path, visit_of
from agent_envs.envs.web.sites._kit._paths import RowNumber
from agent_envs.envs.web.sites._kit._sessions import Session, begin_session, create_sessions, needs_user, session_of

__all__ = [
    "Form",
    "Pages",
    "RowNumber",
    "Session",
    "begin_session",
    "card_digits",
    "card_token",
    "create_sessions",
    "day",
    "luhn",
    "money",
    "needs_user",
    "read_form",
    "redirect",
    "safe_path",
    "session_of",
    "visit_of",
]
