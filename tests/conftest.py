"""What every test file shares: where the checkout is, and what a skip means where nothing may be missing."""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest

ON_PURPOSE = "on purpose: "
"""A skip whose reason begins so is right everywhere; any other one says that this machine lacks something."""


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The repository, for the few tests about its files; the tests may run far from it, against an installed wheel."""
    root = Path(os.environ.get("AGENT_ENVS_CHECKOUT") or Path(__file__).resolve().parents[1])
    if not (root / "pyproject.toml").is_file():
        pytest.skip(ON_PURPOSE + "this test is about the checkout, and AGENT_ENVS_CHECKOUT does not name one")
    return root


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With CI=true a test that was skipped because something is missing has failed."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
        if not reason.startswith(ON_PURPOSE):
            report.outcome = "failed"
            report.longrepr = f"{item.nodeid}: skipped although CI=true promises a complete machine: {reason}"
    return report
