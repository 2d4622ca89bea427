"""What an agent may write in the address bar, and what it is told when that leads nowhere."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from agent_envs.errors import ToolFailed

_LONGEST = 8192
_NO_HOSTS = (
    "about", "blob", "chrome", "chrome-error", "chrome-extension", "data", "devtools", "file", "filesystem",
    "ftp", "javascript", "mailto", "sms", "tel", "urn", "view-source", "ws", "wss",
)  # fmt: skip
"""What is a scheme even before a number, which would be a port after anything else."""
_CAUSES = {
    "ERR_TOO_MANY_REDIRECTS": "it redirects without end",
    "ERR_ABORTED": "the browser gave up: it is an empty answer, or was stopped",
    "ERR_TUNNEL_CONNECTION_FAILED": "only http addresses of the task's sites can be opened",
    "ERR_INVALID_URL": "that is no address",
    "ERR_UNSAFE_PORT": "the browser does not open this port",
    "ERR_EMPTY_RESPONSE": "nothing was answered",
}


def address(written: str, *, at: str) -> str:
    """The full address that is meant by what was written while the page was `at`."""
    text = written.strip()
    if not text or len(text) > _LONGEST:
        raise ToolFailed("there is no address to open" if not text else "the address is too long")
    if text == "about:blank":
        return text
    base = at if text.startswith(("/", "?", "#", "./", "../")) and at.startswith("http") else ""
    scheme = _scheme(text)
    if not scheme and not base:
        text = f"http://{text}"
    elif scheme and scheme.lower() not in ("http", "https"):
        raise ToolFailed(f"{scheme}: addresses cannot be opened; give one that begins with http://")
    try:
        full = urljoin(base, text) if base else text
        parts = urlsplit(full)
        _ = parts.port
        if parts.hostname:
            return full
    except ValueError:
        pass
    raise ToolFailed(f"{written!r} is no address; expected one such as http://shop.test/")


def _scheme(text: str) -> str:
    """What an address begins with; empty where that is a host, with or without a port."""
    found = re.match(r"([a-zA-Z][a-zA-Z0-9+.-]*):", text)
    if found is None or (found[1].lower() not in _NO_HOSTS and re.match(r"\d+([/?#]|$)", text[found.end() :])):
        return ""
    return found[1]


def cause(message: str) -> str:
    """Why an address did not open, in words, from what the browser says."""
    if "invalid URL" in message:
        return _CAUSES["ERR_INVALID_URL"]
    found = re.search(r"ERR_[A-Z_]+", message)
    if found is None:
        return message
    return _CAUSES.get(found[0], found[0].removeprefix("ERR_").replace("_", " ").lower())
