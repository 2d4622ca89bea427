"""Which browser is used: the one that was asked for, else the fastest one that is installed."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

from agent_envs.errors import ConfigError, SandboxUnavailable

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""In the order of preference: the headless shell makes a page three times as fast as the whole browser."""
_NO_ZONES = ("posix", "right", "localtime", "Factory")
"""What lies between the time zones of a system and is none."""

_TAG = re.compile(
    r"[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?(-([a-z\d]{5,8}|\d[a-z\d]{3}))*(-[a-wyz\d](-[a-z\d]{2,8})+)*"
    r"(-x(-[a-z\d]{1,8})+)?",
    re.IGNORECASE,
)
"""A language tag (RFC 5646) as browsers take it: language, script, region, variants, extensions, private use."""
_LONGEST_TAG = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserOptions:
    """Which browser, and what its pages are told about the person in front of it."""

    executable: str = ""
    """The program, by path or by name; empty: the first that is found (headless shell, Chromium, Chrome)."""
    channel: str = ""
    """A distribution that Playwright knows how to find, such as `chrome` or `msedge`, in place of `executable`."""
    width: int = 1280
    """Width of the page's visible part in pixels."""
    height: int = 720
    """Height of the page's visible part in pixels."""
    locale: str = "en-US"
    """The language that pages are told."""
    timezone: str = "UTC"
    """The time zone of the clock that pages see, such as `Asia/Shanghai`."""
    ready: int = 1
    """How many windows are kept open in advance, so that an episode finds one; 0: none."""
    timeout_s: float = 10.0
    """The longest that one action may take."""
    settle_s: float = 10.0
    """The longest that is waited after an action for the page to come to rest."""

    def __post_init__(self) -> None:
        if self.executable and self.channel:
            raise ConfigError("executable and channel both say which browser; give one of them")
        for name in ("executable", "channel", "locale", "timezone"):
            if not isinstance(text := getattr(self, name), str):
                raise ConfigError(f"{name} is {text!r}; expected a text")
        for name in ("width", "height", "ready"):
            if type(value := getattr(self, name)) is not int:
                raise ConfigError(f"{name} is {value!r}; expected a whole number")
        if not (1 <= self.width <= 10_000 and 1 <= self.height <= 10_000):
            raise ConfigError(f"a page of {self.width} x {self.height} pixels cannot be; expected 1 to 10000 each")
        try:
            ZoneInfo(self.timezone)
        except (ValueError, OSError, KeyError) as error:
            raise ConfigError(f"there is no time zone {self.timezone!r}; expected such as 'Asia/Shanghai'") from error
        if self.timezone.startswith(_NO_ZONES):
            raise ConfigError(f"a browser knows no time zone {self.timezone!r}; expected such as 'Asia/Shanghai'")
        if not _TAG.fullmatch(self.locale) or len(self.locale) > _LONGEST_TAG:
            raise ConfigError(f"locale is {self.locale!r}; expected a language tag such as 'en-US'")
        if not 0 <= self.ready <= 64:
            raise ConfigError(f"ready is {self.ready}; expected the number of windows kept open, 0 to 64")
        for name in ("timeout_s", "settle_s"):
            if type(value := getattr(self, name)) not in (int, float):
                raise ConfigError(f"{name} is {value!r}; expected a number of seconds")
        if not (0 < self.timeout_s <= 600 and 0 <= self.settle_s <= 60):
            raise ConfigError(
                f"timeout_s and settle_s are {self.timeout_s}, {self.settle_s}; expected up to 600 and 60"
            )


def find_executable(wanted: str = "") -> str:
    """The path of the browser, or an empty string where only Playwright's own can be meant.

    Raises `SandboxUnavailable` where `wanted` is not there.
    """
    if wanted:
        found = shutil.which(os.path.expanduser(wanted))
        if not found:
            raise SandboxUnavailable(f"there is no browser {wanted!r}; {remedy()}")
        return found
    return next((path for name in _NAMES if (path := shutil.which(name))), "")


def remedy() -> str:
    """What to do where there is no browser, in words."""
    if Path("/etc/debian_version").exists():
        return "install one: apt-get install chromium-headless-shell"
    return "install one: playwright install --only-shell chromium"
