"""The engine that is used is the one that was asked for, and it is shared."""

from __future__ import annotations

import os
import signal

import pytest

from agent_envs.errors import ConfigError, SandboxUnavailable
from agent_envs.sandboxes import engines
from agent_envs.sandboxes.engines import EngineLease


@pytest.mark.parametrize(("kind", "ready"), [("vm", 0), ("auto", -1), ("auto", True), ("docker", "2")])
def test_what_cannot_work_is_refused_before_anything_is_opened(kind: str, ready: int) -> None:
    with pytest.raises(ConfigError, match="expected"):
        EngineLease(kind, ready=ready)


def test_an_engine_that_is_named_is_never_replaced_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    with pytest.raises(SandboxUnavailable):
        EngineLease("auto").engine()


def test_leases_share_an_engine_until_the_last_is_released() -> None:
    # Nothing else in this process asks for seven.
    first, second = EngineLease("namespaces", ready=7), EngineLease("namespaces", ready=7)
    try:
        shared = first.engine()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    assert second.engine() is shared
    first.release()
    first.release()
    assert second.engine() is shared
    second.release()
    third = EngineLease("namespaces", ready=7)
    assert third.engine() is not shared
    third.release()


def test_a_child_that_is_forked_while_an_engine_opens_does_not_wait_for_it() -> None:
    with engines._lock:
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            EngineLease("docker").release()
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
