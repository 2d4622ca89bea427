"""The one loop: what every environment does, shown on one that needs no sandbox."""

from __future__ import annotations

import json
import pickle

import gymnasium
import pytest

from agent_envs import AgentEnv, ConfigError, EndReason, Outcome, ResetNeeded, UnknownTask, Verdict
from agent_envs.errors import AgentEnvsError, EnvClosed, MissingExtra, SandboxUnavailable
from agent_envs.rewards import PARTS
from agent_envs.sandboxes.docker._connect import Refused
from agent_envs.session import Session
from agent_envs.tasks import Task
from agent_envs.testing import EchoEnv, FixedVerifier, ManualClock


def call(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def begun(**options: object) -> EchoEnv:
    env = EchoEnv(**options)  # type: ignore[arg-type]
    env.reset(options={"task_id": "echo/apple"})
    return env


def test_a_right_answer_is_resolved_and_rewarded_with_the_score_alone() -> None:
    _, reward, terminated, truncated, info = begun().step(call("submit", answer="apple"))
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert (info["end_reason"], info["outcome"], info["score"]) == ("submitted", "resolved", 1.0)
    assert info["reward_parts"] == {**dict.fromkeys(PARTS, 0.0), "outcome": 1.0}


def test_a_wrong_answer_is_unresolved_and_worth_nothing() -> None:
    _, reward, terminated, _, info = begun().step(call("submit", answer="pear"))
    assert (reward, terminated, info["outcome"], info["reward_valid"]) == (0.0, True, "unresolved", True)


def test_the_first_observation_is_the_task_and_teaches_the_tools() -> None:
    observation, info = EchoEnv().reset(seed=4)
    assert observation.startswith(info["prompt"]["task"])
    assert info["prompt"]["instructions"] in observation
    assert "echo" in info["prompt"]["instructions"]
    assert [tool["function"]["name"] for tool in info["tools"]] == ["submit", "echo", "refuse"]


def test_the_instructions_can_be_left_to_the_caller() -> None:
    observation, info = EchoEnv(instructions=False).reset(seed=4)
    assert observation == info["prompt"]["task"]


def test_the_same_seed_gives_the_same_task() -> None:
    ids = {EchoEnv().reset(seed=7)[1]["task_id"] for _ in range(5)}
    assert len(ids) == 1


def test_seeds_reach_every_task() -> None:
    env = EchoEnv()
    assert len({env.reset(seed=seed)[1]["task_id"] for seed in range(100)}) == 6


def test_a_task_is_chosen_by_name() -> None:
    assert EchoEnv().reset(options={"task_id": "echo/雪"})[1]["task_id"] == "echo/雪"


def test_an_unknown_task_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(UnknownTask, match="echo/apple"):
        EchoEnv().reset(options={"task_id": "echo/aple"})


def test_an_unknown_reset_option_is_refused() -> None:
    with pytest.raises(ConfigError, match="task_id"):
        EchoEnv().reset(options={"task": "echo/apple"})


@pytest.mark.parametrize(
    ("action", "error"),
    [
        ("", "malformed"),
        ("no call in here", "malformed"),
        (call("sing"), "unknown_tool"),
        (call("echo"), "bad_arguments"),
        (call("echo", text="a", times="many"), "bad_arguments"),
        (call("refuse"), "tool_failed"),
    ],
)
def test_what_the_agent_does_wrong_is_an_observation_and_the_episode_goes_on(action: str, error: str) -> None:
    env = begun()
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated, info["error"]) == (0.0, False, False, error)
    assert "error" in observation
    assert env.step(call("submit", answer="apple"))[1] == 1.0


def test_an_action_may_be_a_mapping() -> None:
    observation, *_, info = begun().step({"name": "echo", "arguments": {"text": "ab", "times": 2}})
    assert (observation, json.loads(info["call"])["name"]) == ("abab", "echo")


@pytest.mark.parametrize(
    "action", [{}, {"name": 3}, {"name": "echo"}, {"name": "echo", "arguments": []}, {"x": object()}]
)
def test_no_mapping_is_an_exception(action: dict[str, object]) -> None:
    assert begun().step(action)[4]["error"] in {"malformed", "unknown_tool", "bad_arguments"}


@pytest.mark.parametrize("action", [None, 3, 2.5, b"submit", [], (), object()])
def test_an_action_of_no_known_type_is_malformed_and_no_exception(action: object) -> None:
    env = begun()
    assert env.step(action)[4]["error"] == "malformed"  # type: ignore[arg-type]
    assert env.step(call("submit", answer="apple"))[1] == 1.0


def test_an_interrupted_step_ends_the_episode_so_that_nothing_of_it_shows_up_later() -> None:
    def interrupt(call: object, step: int) -> None:
        raise KeyboardInterrupt

    env = begun()
    session = env._run.session  # type: ignore[union-attr]
    env.before_tool = interrupt
    with pytest.raises(KeyboardInterrupt):
        env.step(call("echo", text="a"))
    assert session.closed  # type: ignore[attr-defined]
    with pytest.raises(ResetNeeded):
        env.step(call("echo", text="a"))


@pytest.mark.parametrize("options", [{"task_id": None}, {"task_id": 3}, 3, "echo/apple"])
def test_reset_options_of_a_wrong_type_are_a_clear_error(options: object) -> None:
    with pytest.raises(ConfigError, match="expected"):
        EchoEnv().reset(options=options)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/no/such/folder/x.jsonl", "/"])
def test_a_record_that_cannot_be_written_is_an_error_before_the_episode(path: str) -> None:
    with pytest.raises(ConfigError, match="record"):
        EchoEnv(record=path).reset()


def test_an_episode_is_aborted_for_a_reason_there_is() -> None:
    with pytest.raises(ConfigError, match="EndReason"):
        begun().abort("bored", "why not")  # type: ignore[arg-type]


def test_an_action_that_is_too_long_is_refused_and_says_the_limit() -> None:
    observation, *_, info = begun(action_chars=50).step(call("echo", text="x" * 100))
    assert info["error"] == "malformed"
    assert "50" in observation


def test_too_many_unreadable_actions_in_a_row_end_the_episode_and_it_is_still_verified() -> None:
    verifier = FixedVerifier(Verdict.unresolved("nothing"))
    env = begun(verifier=verifier, max_malformed=2)
    env.step("?")
    env.step(call("echo", text="a"))
    env.step("?")
    _, _, terminated, truncated, info = env.step("?")
    assert (terminated, truncated, info["end_reason"]) == (True, False, "malformed")
    assert [artifact.submitted for artifact in verifier.seen] == [False]


def test_the_step_budget_truncates_and_the_episode_is_still_verified() -> None:
    verifier = FixedVerifier(Verdict.resolved())
    env = begun(verifier=verifier, max_steps=2)
    env.step(call("echo", text="a"))
    _, reward, terminated, truncated, info = env.step(call("echo", text="a"))
    assert (reward, terminated, truncated, info["end_reason"]) == (1.0, False, True, "max_steps")


def test_an_action_after_the_wall_time_is_not_run() -> None:
    env = EchoEnv(max_seconds=10.0)
    clock = env.clock = ManualClock()
    env.reset(options={"task_id": "echo/apple"})
    clock.now = 11.0
    _, reward, _, truncated, info = env.step(call("submit", answer="apple"))
    assert (reward, truncated, info["end_reason"], info["outcome"]) == (0.0, True, "wall_time", "unresolved")


def test_charged_tokens_end_the_episode() -> None:
    env = begun(max_tokens=100)
    env.charge_tokens(100)
    assert env.step(call("echo", text="a"))[4]["end_reason"] == "token_budget"


@pytest.mark.parametrize("how", ["infra", "a fault that nobody foresaw"])
def test_a_fault_of_ours_is_never_a_score(how: str) -> None:
    env = begun(breakable=True, reward="seed", dialect="json")
    env.step(call("echo", text="a"))
    _, reward, terminated, truncated, info = env.step(call("break_down", how=how))
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert (info["end_reason"], info["score"], info["reward_valid"]) == ("infra_error", -1.0, False)
    assert env.episode is not None
    assert not env.episode.reward_valid


def test_a_verifier_that_fails_is_never_a_score() -> None:
    env = begun(verifier=FixedVerifier(Verdict.error("the disk is full")))
    _, reward, _, truncated, info = env.step(call("submit", answer="apple"))
    assert (reward, truncated, info["end_reason"], info["reward_valid"]) == (0.0, True, "infra_error", False)


def test_a_forgery_is_named_and_worth_nothing() -> None:
    env = begun(verifier=FixedVerifier(Verdict.tampered("it wrote the verdict itself")))
    _, reward, _, _, info = env.step(call("submit", answer="apple"))
    assert (reward, info["outcome"], info["score"], info["reward_valid"]) == (0.0, "tampered", 0.0, True)


def test_an_ended_episode_takes_no_more_steps() -> None:
    env = begun()
    env.step(call("submit", answer="apple"))
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(call("echo", text="a"))


def test_step_before_reset_is_an_error() -> None:
    with pytest.raises(gymnasium.error.ResetNeeded):
        EchoEnv().step("")


def test_close_is_idempotent_and_final() -> None:
    env = begun()
    env.close()
    env.close()
    with pytest.raises(EnvClosed, match="new one"):
        env.reset()
    with pytest.raises(EnvClosed):
        env.step("")


def test_the_session_is_closed_before_anything_is_verified() -> None:
    seen: list[bool] = []

    class Watching(FixedVerifier):
        def verify(self, task: object, artifact: object) -> Verdict:
            seen.append(session.closed)
            return self.verdict

    env = begun(verifier=Watching(Verdict.resolved()))
    session = env._run.session  # type: ignore[union-attr]
    env.step(call("submit", answer="apple"))
    assert seen == [True]


def test_reset_in_mid_episode_closes_the_old_session() -> None:
    env = begun()
    session = env._run.session  # type: ignore[union-attr]
    env.reset()
    assert session.closed  # type: ignore[attr-defined]


def test_an_aborted_episode_is_recorded_and_says_nothing_about_the_agent() -> None:
    episode = begun().abort(EndReason.AGENT_ERROR, "the model server is down")
    assert (episode.end_reason, episode.reward_valid) == (EndReason.AGENT_ERROR, False)
    assert episode.verdict is not None
    assert episode.verdict.outcome is Outcome.ERROR


def test_a_long_observation_loses_its_middle_and_says_so() -> None:
    observation, *_ = begun(observation_chars=200).step(call("echo", text="abcdefghij", times=100))
    assert len(observation) == 200
    assert "left out" in observation


def test_a_subset_of_the_tools_is_all_there_is() -> None:
    env = begun(tools=["submit"])
    assert env.step(call("echo", text="a"))[4]["error"] == "unknown_tool"


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"max_step": 3}, "max_steps"),
        ({"max_steps": 0}, "max_steps"),
        ({"max_steps": 1.5}, "max_steps"),
        ({"instructions": "no"}, "instructions"),
        ({"tools": 3}, "tools"),
        ({"dialect": None}, "dialect"),
        ({"reward": 3}, "reward"),
        ({"record": 3}, "record"),
        ({"max_seconds": -1}, "max_seconds"),
        ({"max_seconds": float("nan")}, "max_seconds"),
        ({"tools": ["sing"]}, "sing"),
        ({"tools": "submit"}, "tools"),
        ({"dialect": "jsn"}, "json"),
        ({"reward": "scoer"}, "score"),
        ({"reward": {"outcom": 1}}, "outcome"),
        ({"render_mode": "human"}, "ansi"),
    ],
)
def test_a_wrong_option_is_an_error_that_names_it(options: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        EchoEnv(**options)  # type: ignore[arg-type]


def test_a_fork_goes_its_own_way() -> None:
    env = begun(max_steps=3)
    env.step(call("echo", text="a"))
    twin = env.fork()
    assert twin.step(call("submit", answer="pear"))[1] == 0.0
    assert env.step(call("submit", answer="apple"))[1] == 1.0
    assert twin.episode is not None
    assert len(twin.episode.turns) == 2
    assert twin.episode.id != env.episode.id  # type: ignore[union-attr]


def test_rendering_shows_the_episode_so_far() -> None:
    env = begun(render_mode="ansi")
    env.step(call("echo", text="seen"))
    assert "seen" in str(env.render())


def test_every_episode_is_appended_to_the_record(tmp_path: object) -> None:
    from agent_envs import read_episodes

    path = f"{tmp_path}/episodes.jsonl"
    env = EchoEnv(record=path)
    for answer in ("apple", "pear"):
        env.reset(options={"task_id": "echo/apple"})
        env.step(call("submit", answer=answer))
    assert [episode.total_reward for episode in read_episodes(path)] == [1.0, 0.0]


def test_a_recorded_episode_replays_to_the_same_rewards_and_observations() -> None:
    env = begun()
    env.step("hm")
    env.step(call("echo", text="b"))
    env.step(call("submit", answer="apple"))
    first = env.episode
    assert first is not None
    env.reset(options={"task_id": first.task_id})
    for turn in first.turns:
        observation, reward, *_ = env.step(turn.action)
        assert (observation, reward) == (turn.observation, turn.reward)


@pytest.mark.parametrize(("passing", "attempts"), [(True, 2), (False, 1)])
def test_reset_makes_a_second_attempt_where_a_fault_may_pass(passing: bool, attempts: int) -> None:
    faults = []

    class Busy(EchoEnv):
        def open_session(self, task: Task) -> Session:
            faults.append(SandboxUnavailable("the engine is busy", passing=passing))
            raise faults[-1]

    with pytest.raises(SandboxUnavailable, match="busy"):
        Busy().reset(seed=0)
    assert len(faults) == attempts


@pytest.mark.parametrize(
    "error",
    [MissingExtra("torch", extra="train"), Refused("no", status=404), SandboxUnavailable("no", passing=True)],
    ids=lambda error: type(error).__name__,
)
def test_an_error_of_a_worker_is_whole_in_another_process(error: AgentEnvsError) -> None:
    there = pickle.loads(pickle.dumps(error))
    assert (type(there), str(there), vars(there)) == (type(error), str(error), vars(error))


def test_an_environment_without_open_session_says_what_to_write() -> None:
    from agent_envs.verifiers import TextAnswer

    tasks = EchoEnv().tasks
    env = AgentEnv(tasks=tasks, session=EchoEnv().session_class, verifier=TextAnswer())
    with pytest.raises(Exception, match="open_session"):
        env.reset()
