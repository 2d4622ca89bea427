"""The attack suite against every kind of verdict. All of it is played by `agent-envs attack`, as `.ci/run` does."""

from __future__ import annotations

import pytest
from agent_envs.envs.swe.attacks import catalogue, honest
from agent_envs.envs.swe.attacks.suite import AttackSuite

from agent_envs.artifact import Outcome
from agent_envs.errors import ConfigError, SandboxUnavailable, TaskError
from agent_envs.sandboxes.engines import EngineLease


def test_the_suite_is_as_large_as_it_says() -> None:
    assert len(catalogue()) >= 58
    assert len(honest()) >= 18
    assert len(AttackSuite()) == len(catalogue()) + len(honest())


@pytest.fixture(scope="module")
def kind() -> str:
    lease = EngineLease("auto")
    try:
        lease.engine()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    lease.release()
    return "auto"


def test_weaker_verdicts_are_fooled_by_what_the_sealed_one_withstands(kind: str) -> None:
    names = ("equal to everything", "every report says passed")
    results = [*AttackSuite(sandbox=kind, only=names, jobs=2).run()]
    assert {result.name for result in results} == {*names}
    for result in results:
        assert result.right("sealed"), result
        assert result.outcomes["exit_code"] is result.outcomes["report"] is Outcome.RESOLVED


def test_an_unknown_attack_is_refused() -> None:
    with pytest.raises(TaskError, match="no attack is called"):
        AttackSuite(only=("politeness",))


@pytest.mark.parametrize("jobs", [0, True, "2"])
def test_a_number_of_jobs_that_cannot_be_meant_is_refused(jobs: object) -> None:
    with pytest.raises(ConfigError, match="jobs is"):
        AttackSuite(jobs=jobs)  # type: ignore[arg-type]


def test_honest_work_is_not_rejected_and_told_in_the_order_of_the_suite(kind: str) -> None:
    names = [one.name for one in honest()[::8]]
    results = [*AttackSuite(sandbox=kind, trust=("sealed",), only=tuple(names), jobs=2).run()]
    assert [result.name for result in results] == names
    assert all(result.right("sealed") for result in results)
