"""Sites: web applications that an episode visits, each with a database of its own. Serving needs the extra `web`."""

from __future__ import annotations

from agent_envs.sites._files import FolderSite
from agent_envs.sites._gateway import MOST_LOGGED, Exchange, Gateway
from agent_envs.sites._rows import Changes, apply, changes
from agent_envs.sites._site import VISIT, ASGIApp, Message, Site, Visit, World, begin, find_site, untouched

__all__ = [
    "MOST_LOGGED",
    "VISIT",
    "ASGIApp",
    "Changes",
    "Exchange",
    "FolderSite",
    "Gateway",
    "Message",
    "Site",
    "Visit",
    "World",
    "apply",
    "begin",
    "changes",
    "find_site",
    "untouched",
]
