"""AgentRL/SWE-v0 as its users know it: a repository, tools that answer, and an episode that ends with a verdict."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator

import gymnasium
import pytest
from agent_envs.envs.swe import SweEnv

from agent_envs.artifact import Outcome
from agent_envs.errors import ConfigError, SandboxUnavailable, TaskError
from agent_envs.sandboxes.docker._owner import OWNER, Owner
from agent_envs.sandboxes.engines import EngineLease
from agent_envs.testing import check_agent_env

TASK = "depot/half-an-import"


@pytest.fixture(params=["docker", "namespaces"], scope="module")
def kind(request: pytest.FixtureRequest) -> str:
    """A kind of sandbox that works here."""
    lease = EngineLease(request.param)
    try:
        lease.engine()
    except SandboxUnavailable as reason:
        pytest.skip(f"{request.param} cannot be used here: {reason}")
    lease.release()
    return str(request.param)


@pytest.fixture(scope="module")
def opened(kind: str) -> Iterator[SweEnv]:
    env = SweEnv(sandbox=kind, max_steps=200, command_seconds=60.0)
    yield env
    env.close()


@pytest.fixture
def env(opened: SweEnv) -> SweEnv:
    """An episode on one task; the environment is shared, the episode is not."""
    opened.reset(options={"task_id": TASK})
    return opened


def act(env: SweEnv, name: str, **arguments: object) -> str:
    """What the agent sees of one call that must work."""
    observation, _, _, _, info = env.step({"name": name, "arguments": arguments})
    assert (info["error"], info["reward_valid"]) == ("", True), observation
    return observation


def refused(env: SweEnv, name: str, **arguments: object) -> str:
    """What the agent sees of one call that must not work."""
    observation, _, _, _, info = env.step({"name": name, "arguments": arguments})
    assert info["error"], observation
    return observation


# The contract


def test_it_is_made_by_its_name() -> None:
    env = gymnasium.make("agent_envs:AgentRL/SWE-v0")
    assert set(env.unwrapped.toolbox.names) == {  # type: ignore[attr-defined]
        "bash",
        "create",
        "edit",
        "pdb",
        "run_tests",
        "search",
        "submit",
        "view",
    }
    env.close()


def test_it_keeps_the_contract(kind: str) -> None:
    check_agent_env(gymnasium.make("AgentRL/SWE-v0", sandbox=kind, max_steps=6), tasks=1, steps=3)


@pytest.mark.parametrize(
    "options",
    [
        {"sandbox": "vm"},
        {"trust": "blind"},
        {"credit": "half"},
        {"ready": -1},
        {"task_set": "maxi"},
        {"command_seconds": 0},
        {"memory_mb": 1},
        {"tools": ["sudo"]},
    ],
)
def test_options_that_cannot_work_are_refused_at_once(options: dict[str, object]) -> None:
    with pytest.raises((ConfigError, TaskError)):
        SweEnv(**options)  # type: ignore[arg-type]


# The place


def test_the_history_is_one_commit_and_the_work_tree_is_clean(env: SweEnv) -> None:
    assert (
        act(env, "bash", command="git log --oneline --all | wc -l; git status --short; git stash list").strip() == "1"
    )


def test_the_agent_is_nobody_and_alone(env: SweEnv) -> None:
    script = "id -u; grep -c eth /proc/net/route; grep CapEff /proc/self/status"
    assert act(env, "bash", command=f"{script} || true").split() == ["1000", "0", "CapEff:", "0000000000000000"]


def test_the_visible_tests_cannot_be_changed(env: SweEnv) -> None:
    refused(env, "bash", command="echo > /tests/tests/test_units.py")
    act(env, "bash", command="rm -rf tests; sed -i s/DepotError/Broken/ src/depot/units.py")
    assert "passed" not in refused(env, "run_tests", target="tests/test_units.py")


def test_hidden_tests_are_nowhere(env: SweEnv) -> None:
    found = act(
        env,
        "bash",
        command="grep -rl half_an_import / --include='*.py' 2>/dev/null; find / -name '*hidden*.py' 2>/dev/null; true",
    )
    assert "import_hidden" not in found


# The tools


def test_the_shell_keeps_its_place_and_its_variables(env: SweEnv) -> None:
    act(env, "bash", command="cd src; NAME=kept; greet() { echo hello; }")
    assert act(env, "bash", command='basename "$PWD"; echo $NAME; greet') == "src\nkept\nhello"


def test_a_failing_command_shows_its_status(env: SweEnv) -> None:
    assert "[exit status 3]" in refused(env, "bash", command="echo bad >&2; (exit 3)")


def test_a_hung_command_is_stopped_and_the_shell_goes_on(kind: str) -> None:
    # Enough for a busy machine to come to the first word.
    env = SweEnv(sandbox=kind, command_seconds=4.0)
    env.reset(options={"task_id": TASK})
    act(env, "bash", command="X=1")
    said = refused(env, "bash", command="echo before; sleep 500 & sleep 600")
    assert said.startswith("before\n")
    assert "[timeout: stopped after 4 s" in said
    # The shell may say here, once more, that its jobs were killed.
    assert act(env, "bash", command="echo $X$(pgrep -cu agent sleep)").splitlines()[0] == "10"
    env.close()


def test_files_are_viewed_with_numbers_and_folders_as_lists(env: SweEnv) -> None:
    assert act(env, "view", path="README.md", last=1) == "     1\t# depot\n[lines 1 to 1 of 24]"
    assert "src/" in act(env, "view", path=".").splitlines()
    assert "test_units.py" in act(env, "view", path="/tests/tests")
    for path in ("missing", "/missing/too", "a\0b"):
        refused(env, "view", path=path)
    assert "24 lines" in refused(env, "view", path="README.md", first=99)


def test_an_edit_needs_its_text_exactly_once(env: SweEnv) -> None:
    path = "src/depot/units.py"
    assert "whitespace differs" in refused(env, "edit", path=path, old="\tif match is None:", new="x")
    assert "occurs" in refused(env, "edit", path=path, old="def ", new="x")
    assert "create" in refused(env, "edit", path=path, old="", new="x")
    assert "nothing would change" in refused(env, "edit", path=path, old="a", new="a")
    shown = act(env, "edit", path=path, old="if match is None:", new="if not match:")
    assert "if not match:" in shown
    assert "if not match:" in act(env, "search", pattern="not match", path="src", files="*.py")


def test_created_files_are_there_with_their_folders(env: SweEnv) -> None:
    act(env, "create", path="notes/deep/ünï.txt", content="zwei\nZeilen\n")
    assert act(env, "bash", command="cat notes/deep/*.txt; git status --short") == "zwei\nZeilen\n?? notes/"
    refused(env, "create", path="/etc/passwd", content="x")


def test_a_search_is_bounded_and_says_so(env: SweEnv) -> None:
    act(env, "bash", command="for i in $(seq 9); do yes needle | head -50 > hay$i; done")
    said = act(env, "search", pattern="needle")
    assert len(said.splitlines()) == 61
    assert "more; narrow the search" in said
    assert act(env, "search", pattern="nowhere to be found") == "no line matches"
    refused(env, "search", pattern="(")


def test_output_that_looks_like_a_summary_costs_no_time(env: SweEnv) -> None:
    noise = "print('1' + ' 11111' * 400)"
    act(env, "bash", command=f'echo "{noise}; raise SystemExit(1)" >> src/depot/units.py')
    began = time.monotonic()
    refused(env, "run_tests", target="tests/test_units.py")
    assert time.monotonic() - began < 50


def test_a_block_of_bash_is_a_command(env: SweEnv) -> None:
    observation, *_ = env.step('What is here?\n```bash\nbasename "$PWD"\n```')
    assert observation == "workspace"


def test_an_enormous_change_is_counted_in_time(kind: str) -> None:
    env = SweEnv(sandbox=kind)
    env.reset(options={"task_id": TASK})
    act(env, "bash", command="yes '' | head -3000000 >> src/depot/units.py")
    began = time.monotonic()
    _, reward, terminated, _, _ = env.step({"name": "submit", "arguments": {}})
    assert (reward, terminated) == (0.0, True)
    assert time.monotonic() - began < 150
    env.close()


def test_visible_tests_run_in_their_own_copy(env: SweEnv) -> None:
    assert "passed" in act(env, "run_tests")
    assert "20 passed" in act(env, "run_tests", target="tests/test_units.py")
    refused(env, "run_tests", target="tests/missing.py")


def test_the_debugger_stops_inspects_and_keeps_its_breakpoints(env: SweEnv) -> None:
    assert "run TEST" in refused(env, "pdb", command="next")
    line = act(env, "search", pattern="if match is None", path="src/depot/units.py").split(":")[0]
    line = (
        line
        if line.isdigit()
        else act(env, "bash", command="grep -n 'if match is None' src/depot/units.py | cut -d: -f1")
    )
    act(env, "pdb", command=f"break src/depot/units.py:{line.strip()}")
    assert "if match is None" in act(env, "pdb", command="run tests/test_units.py")
    assert act(env, "pdb", command="p type(text)") == "<class 'str'>"
    where = act(env, "pdb", command="where")
    assert "parse()" in where
    assert "_pytest" not in where
    act(env, "bash", command="sed -i '1i # a line more' src/depot/units.py")
    assert f":{int(line) + 1}\t" in act(env, "pdb", command="breaks")
    assert "if match is None" in act(env, "pdb", command="run tests/test_units.py")
    act(env, "pdb", command=f"clear src/depot/units.py:{int(line) + 1}")
    assert "20 passed" in act(env, "pdb", command="run tests/test_units.py")


def test_the_debugger_looks_at_a_failure_where_it_happens(env: SweEnv) -> None:
    act(env, "bash", command="sed -i 's/if match is None/if match is not None/' src/depot/units.py")
    assert "fails here: DepotError" in act(env, "pdb", command="run tests/test_units.py")
    assert "'" in act(env, "pdb", command="p text")
    act(env, "pdb", command="quit")


# The end


def test_the_reference_resolves_and_doing_nothing_does_not(env: SweEnv) -> None:
    for call in env.task.solution:
        _, reward, terminated, _, info = env.step({"name": call.name, "arguments": dict(call.arguments)})
    assert (reward, terminated, info["outcome"]) == (1.0, True, "resolved")
    env.reset(options={"task_id": TASK})
    _, reward, terminated, _, info = env.step({"name": "submit", "arguments": {}})
    assert (reward, terminated, info["outcome"], info["score"]) == (0.0, True, "unresolved", 0.0)


def test_a_budget_that_is_spent_is_truncated_and_judged_too(kind: str) -> None:
    env = SweEnv(sandbox=kind, max_steps=1)
    env.reset(options={"task_id": TASK})
    _, _, terminated, truncated, info = env.step({"name": "bash", "arguments": {"command": "true"}})
    assert (terminated, truncated, info["outcome"]) == (False, True, "unresolved")
    env.close()


def test_a_large_diff_costs_what_the_reward_says(kind: str) -> None:
    env = SweEnv(sandbox=kind, reward={"diff_penalty": 0.01, "diff_allowance": 2})
    env.reset(options={"task_id": TASK})
    act(env, "create", path="notes.txt", content="line\n" * 12)
    _, reward, _, _, info = env.step({"name": "submit", "arguments": {}})
    assert info["reward_parts"]["diff"] == pytest.approx(-0.1)
    assert reward == pytest.approx(-0.1)
    env.close()


def test_the_record_of_an_episode_is_judged_again_to_the_same_verdict(env: SweEnv) -> None:
    for call in env.task.solution:
        env.step({"name": call.name, "arguments": dict(call.arguments)})
    episode = env.episode
    assert episode is not None
    assert episode.artifact is not None
    again = SweEnv(sandbox="auto")
    task = again.tasks.task(TASK)
    assert again.verifier.verify(task, episode.artifact).outcome is episode.outcome is Outcome.RESOLVED
    again.close()


def test_a_container_killed_from_outside_is_not_the_agents_fault(eventually) -> None:
    lease = EngineLease("docker")
    try:
        lease.engine()
    except SandboxUnavailable as reason:
        pytest.skip(f"docker cannot be used here: {reason}")
    env = SweEnv(sandbox="docker")
    before = set(_containers("-a"))
    env.reset(options={"task_id": TASK})
    (mine,) = set(_containers()) - before
    subprocess.run(["docker", "kill", mine], check=True, capture_output=True)
    _, reward, terminated, truncated, info = env.step({"name": "bash", "arguments": {"command": "true"}})
    assert (reward, terminated, truncated, info["end_reason"]) == (0.0, False, True, "infra_error")
    assert not info["reward_valid"]
    env.reset(options={"task_id": TASK})
    assert act(env, "bash", command="echo again") == "again"
    env.close()
    eventually(lambda: set(_containers("-a")) - before, set())
    lease.release()


def _containers(*also: str) -> list[str]:
    """Those that this very process has made and that run; with `-a`, those that are ready, or ending, too."""
    listed = subprocess.run(
        ["docker", "ps", *also, "-q", "--no-trunc", "--filter", f"label={OWNER}={Owner.present()}"],
        check=True,
        capture_output=True,
        text=True,
    )
    return listed.stdout.split()
