"""What a task says of sites and worlds is read before anybody visits them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_envs.errors import ConfigError, TaskError
from agent_envs.sites import FolderSite, World, begin, find_site


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"seed": "x"}, "seed is 'x'; expected a whole number"),
        ({"seed": True}, "seed is True; expected a whole number"),
        ({"seed": 10**30}, "whole number of 64 bits"),
        ({"user": 5}, "user is 5; expected a text"),
        ({"options": None}, "options are None; expected a dict"),
        ({"options": {"a": object}}, "expected a dict of JSON data"),
        ({"now": 5}, "now is 5; expected a local time"),
    ],
)
def test_a_world_that_cannot_be_is_named(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(TaskError, match=named):
        World(**wrong)


@pytest.mark.parametrize("name", [None, 5, [], "", "..:x", ":x", "x:", "no.such:thing", "os:path", "a\0b:c"])
def test_what_names_no_site_is_named(name: Any) -> None:
    with pytest.raises(TaskError, match="expected"):
        find_site(name)


@pytest.mark.parametrize(("host", "folder"), [(5, Path), ("files.test", None), ("files.test", "/tmp")])
def test_a_folder_that_cannot_be_asked_for_is_named(host: Any, folder: Any) -> None:
    with pytest.raises(ConfigError, match="expected a text, and a function"):
        FolderSite(host, folder)


def test_a_folder_that_is_no_path_is_named_when_somebody_visits() -> None:
    site: Any = FolderSite("files.test", lambda: "/tmp")  # type: ignore[arg-type,return-value]
    begin(site, World()).close()
    with pytest.raises(ConfigError, match=r"the folder of files\.test is '/tmp'; expected a function"):
        site._read("/x")
