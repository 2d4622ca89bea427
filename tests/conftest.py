"""What every test file shares: where the checkout is, and what a skip means where nothing may be missing."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_envs.browser import BrowserOptions, open_window
from agent_envs.errors import MissingExtra, SandboxUnavailable
from agent_envs.sandboxes.engines import EngineLease
from agent_envs.sandboxes.images import ImageEngine

# Tests run side by side, and what they train is tiny: more threads would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

ON_PURPOSE = "on purpose: "
"""A skip whose reason begins so is right everywhere; any other one says that this machine lacks something."""


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The repository, for the few tests about its files; the tests may run far from it, against an installed wheel."""
    root = Path(os.environ.get("AGENT_ENVS_CHECKOUT") or Path(__file__).resolve().parents[1])
    if not (root / "pyproject.toml").is_file():
        pytest.skip(ON_PURPOSE + "this test is about the checkout, and AGENT_ENVS_CHECKOUT does not name one")
    return root


@pytest.fixture(scope="session")
def eventually() -> Callable[..., None]:
    """Asserts what comes about in its own time: `eventually(look)` that `look()` is true, or equals a second argument.

    What another process or thread does is done when this machine comes to it, which may be long after we have asked.
    """

    def wait(look: Callable[[], Any], expected: Any = True, *, within_s: float = 60.0) -> None:
        deadline = time.monotonic() + within_s
        while (seen := look()) != expected and time.monotonic() < deadline:
            time.sleep(0.01)
        assert seen == expected

    return wait


@pytest.fixture(scope="session", params=["namespaces", pytest.param("docker", marks=pytest.mark.exhaustive)])
def engine(request: pytest.FixtureRequest) -> Iterator[ImageEngine]:
    """Each way of running images; Docker, which is slower, where a test asks for it or in `exhaustive` ones."""
    lease = EngineLease(request.param)
    try:
        found = lease.engine()
    except (SandboxUnavailable, MissingExtra) as reason:
        pytest.skip(f"{request.param} cannot be used here: {reason}")
    yield found
    lease.release()


@pytest.fixture(scope="session")
def a_browser() -> None:
    """Skips where no browser can be started, with the command that would change it."""
    try:
        open_window(BrowserOptions(), visits={}, now="2026-03-10T09:00:00", seed=0).close()
    except (SandboxUnavailable, MissingExtra) as reason:
        pytest.skip(f"no browser can be used here: {reason}")


def fail_where_something_is_missing(report: pytest.TestReport | pytest.CollectReport) -> None:
    """With CI=true the machine is promised to be complete, so a skip for want of something is a failure."""
    if os.environ.get("CI") != "true" or not report.skipped or not isinstance(report.longrepr, tuple):
        return
    reason = report.longrepr[2].removeprefix("Skipped: ")
    if not reason.startswith(ON_PURPOSE):
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid}: skipped although CI=true promises a complete machine: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    fail_where_something_is_missing(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    fail_where_something_is_missing(report)
    return report
