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
