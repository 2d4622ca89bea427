"""The attack suite against every kind of verdict. All of it is played by `agent-envs attack`, as `.ci/run` does."""

from __future__ import annotations

import pytest
from agent_envs.envs.swe.attacks import catalogue, honest
from agent_envs.envs.swe.attacks.suite import AttackSuite

from agent_envs.artifact import Outcome
from agent_envs.errors import SandboxUnavailable, TaskError
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
    for result in AttackSuite(sandbox=kind, only=("equal to everything", "every report says passed")).run():
        assert result.right("sealed"), result
        assert result.outcomes["exit_code"] is result.outcomes["report"] is Outcome.RESOLVED


def test_an_unknown_attack_is_refused() -> None:
    with pytest.raises(TaskError, match="no attack is called"):
        AttackSuite(only=("politeness",))


def test_honest_work_is_not_rejected(kind: str) -> None:
    names = tuple(one.name for one in honest()[::8])
    assert all(one.right("sealed") for one in AttackSuite(sandbox=kind, trust=("sealed",), only=names).run())
