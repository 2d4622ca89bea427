"""Rewards: the published figures come out exactly, every option does what its name says, nothing invalid is paid."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_envs.artifact import Verdict
from agent_envs.dialects import Parsed
from agent_envs.errors import ConfigError, InfraError
from agent_envs.rewards import (
    PARTS,
    PRESETS,
    Progress,
    RewardAccount,
    RewardSpec,
    add,
    no_reward,
    register_scorer,
    total,
)
from agent_envs.tools import ToolCall, ToolResult

RESOLVED, WRONG = Verdict.resolved(), Verdict.unresolved("wrong answer")


def parsed(call: ToolCall | None = None, *, thought: str = "", error: str = "", well_formed: bool = True) -> Parsed:
    return Parsed(call=call, thought=thought, error=error, message="", repairs=(), well_formed=well_formed)


def single_turn(spec: str, verdict: Verdict, *, well_formed: bool = True, ran: bool | None = None) -> dict[str, float]:
    """The parts of an episode of one action."""
    account = RewardSpec.of(spec).start()
    action = parsed(ToolCall("run", {"code": "x"}), well_formed=well_formed)
    return add(account.turn(action, ToolResult("", ran=ran)), account.end(verdict))


def account_of(**options: Any) -> RewardAccount:
    return RewardSpec.of(options).start()


def run_twice(account: RewardAccount, name: str, ran: bool | None = None) -> list[dict[str, float]]:
    return [account.turn(parsed(ToolCall("t", {"a": name})), ToolResult("", ran=ran)) for _ in range(2)]


# --- the default ------------------------------------------------------------------------------------------------------


@given(st.floats(0, 1), st.booleans(), st.sampled_from([True, False, None]))
def test_by_default_the_reward_is_the_verifiers_score_alone(score: float, well_formed: bool, ran: bool | None) -> None:
    parts = single_turn("score", Verdict.unresolved("partly", score=score), well_formed=well_formed, ran=ran)
    assert total(parts) == score
    assert parts == no_reward() | {"outcome": score}


def test_every_part_is_always_there_as_a_float() -> None:
    for preset in PRESETS:
        for ran in (True, False, None):
            parts = single_turn(preset, WRONG, ran=ran)
            assert tuple(parts) == PARTS
            assert all(type(value) is float for value in parts.values())


def test_no_part_is_ever_minus_zero() -> None:
    account = account_of(loop_penalty=0.1, thought_penalty=0.1, diff_penalty=0.1)
    parts = add(account.turn(parsed(ToolCall("t")), ToolResult("")), account.end(RESOLVED, {"diff_lines": 0}))
    assert all(math.copysign(1.0, value) == 1.0 for value in parts.values())


def test_forging_a_pass_is_worth_as_much_as_a_wrong_answer() -> None:
    assert single_turn("seed", Verdict.tampered("it rewrote the tests")) == single_turn("seed", WRONG)


# --- the figures of the preset `seed` ---------------------------------------------------------------------------------


def test_a_correct_program_earns_one_and_a_half() -> None:
    parts = single_turn("seed", RESOLVED, ran=True)
    assert total(parts) == 1.5
    assert parts == no_reward() | {"outcome": 1.0, "format": 0.2, "execution": 0.3}


def test_a_program_that_runs_and_is_wrong_earns_three_tenths() -> None:
    parts = single_turn("seed", WRONG, ran=True)
    assert total(parts) == 0.3
    assert parts == no_reward() | {"outcome": -0.2, "format": 0.2, "execution": 0.3}


def test_a_program_that_does_not_run_loses_three_tenths() -> None:
    parts = single_turn("seed", WRONG, ran=False)
    assert total(parts) == -0.3
    assert parts == no_reward() | {"outcome": -0.2, "format": 0.2, "execution": -0.3}


def test_an_action_without_its_think_tag_loses_one_and_nothing_else_is_counted() -> None:
    parts = single_turn("seed", RESOLVED, well_formed=False, ran=True)
    assert total(parts) == -1.0
    assert parts == no_reward() | {"format": -1.0}


def test_the_loop_is_told_that_a_broken_format_ends_the_episode() -> None:
    account = RewardSpec.of("seed").start()
    assert account.ends(parsed(well_formed=False))
    assert not account.ends(parsed())
    assert not RewardSpec.of("score").start().ends(parsed(well_formed=False))


def test_after_a_broken_format_no_turn_counts() -> None:
    account = RewardSpec.of("seed").start()
    account.turn(parsed(well_formed=False), ToolResult(""))
    assert account.turn(parsed(ToolCall("t")), ToolResult("", ran=True)) == no_reward()


# --- outcome ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "worth"), [(0.0, -1.0), (0.25, 0.0), (0.5, 1.0), (1.0, 3.0)])
def test_a_partial_score_lies_on_the_line_between_wrong_and_right(score: float, worth: float) -> None:
    account = account_of(outcome=3, wrong_outcome=-1)
    assert account.end(Verdict.unresolved("partly", score=score))["outcome"] == pytest.approx(worth, abs=1e-12)


@pytest.mark.parametrize("verdict", [None, Verdict.error("the sandbox died")])
def test_an_episode_without_a_verdict_gets_nothing_in_every_part(verdict: Verdict | None) -> None:
    account = account_of(preset="seed", diff_penalty=1)
    account.turn(parsed(ToolCall("t")), ToolResult("", ran=False))
    assert account.end(verdict, {"diff_lines": 5}) == no_reward()


# --- format -----------------------------------------------------------------------------------------------------------


def test_the_format_bonus_is_earned_once_per_episode() -> None:
    first, second = run_twice(account_of(format_bonus=0.2), "x")
    assert (first["format"], second["format"]) == (0.2, 0.0)


def test_the_format_bonus_can_be_earned_in_every_turn() -> None:
    first, second = run_twice(account_of(format_bonus=0.2, format_per="turn"), "x")
    assert (first["format"], second["format"]) == (0.2, 0.2)


@pytest.mark.parametrize("error", ["unknown_tool", "bad_arguments"])
def test_a_well_written_call_that_cannot_be_made_earns_no_format_bonus(error: str) -> None:
    parts = account_of(format_bonus=0.2, format_penalty=0.5).turn(parsed(error=error), ToolResult(""))
    assert parts["format"] == 0.0


def test_the_format_penalty_falls_in_every_broken_turn() -> None:
    account = account_of(format_penalty=0.5)
    broken = [account.turn(parsed(error="malformed", well_formed=False), ToolResult("")) for _ in range(2)]
    assert [parts["format"] for parts in broken] == [-0.5, -0.5]


# --- execution --------------------------------------------------------------------------------------------------------


def test_the_shaped_preset_pays_a_tenth_for_a_call_that_ran() -> None:
    assert single_turn("shaped", RESOLVED, ran=True)["execution"] == 0.1
    assert single_turn("shaped", RESOLVED, ran=None)["execution"] == 0.0


def test_calls_that_ran_pay_no_more_than_the_cap() -> None:
    account = RewardSpec.of("shaped").start()
    paid = [account.turn(parsed(), ToolResult("", ran=True))["execution"] for _ in range(30)]
    assert total(dict(enumerate(paid))) == pytest.approx(0.5, abs=1e-12)  # type: ignore[arg-type]
    assert min(paid) == 0.0


def test_every_call_that_failed_costs() -> None:
    parts = run_twice(account_of(execution_penalty=0.3), "x", ran=False)
    assert [part["execution"] for part in parts] == [-0.3, -0.3]


@pytest.mark.parametrize(("runs", "worth"), [([True, False], -0.3), ([False, True], 0.2), ([False, None], -0.3)])
def test_per_episode_the_last_execution_decides(runs: list[bool | None], worth: float) -> None:
    account = account_of(execution_bonus=0.2, execution_penalty=0.3, execution_per="episode")
    turns = [account.turn(parsed(), ToolResult("", ran=ran)) for ran in runs]
    assert [turn["execution"] for turn in turns] == [0.0, 0.0]
    assert account.end(WRONG)["execution"] == worth


def test_per_episode_nothing_executed_is_neither_paid_nor_punished() -> None:
    account = account_of(execution_bonus=0.2, execution_penalty=0.3, execution_per="episode")
    assert account.end(WRONG)["execution"] == 0.0


# --- loops ------------------------------------------------------------------------------------------------------------


def test_each_repetition_of_a_call_costs_more_than_the_one_before() -> None:
    account = account_of(loop_penalty=0.1)
    costs = [account.turn(parsed(ToolCall("ls", {"path": "."})), ToolResult(""))["loop"] for _ in range(5)]
    assert costs == pytest.approx([0.0, -0.1, -0.2, -0.3, -0.4], abs=1e-12)


def test_calls_are_identical_whatever_the_order_of_their_arguments() -> None:
    account = account_of(loop_penalty=0.1)
    account.turn(parsed(ToolCall("t", {"a": 1, "b": 2})), ToolResult(""))
    assert account.turn(parsed(ToolCall("t", {"b": 2, "a": 1}, id="other")), ToolResult(""))["loop"] == -0.1


def test_another_argument_or_no_call_is_no_repetition() -> None:
    account = account_of(loop_penalty=0.1)
    calls = [ToolCall("t", {"a": 1}), ToolCall("t", {"a": 2}), ToolCall("u", {"a": 1}), None, None]
    assert [account.turn(parsed(call), ToolResult(""))["loop"] for call in calls] == [0.0] * 5


@pytest.mark.parametrize(("consecutive", "cost"), [(False, -0.1), (True, 0.0)])
def test_a_repetition_after_another_call_can_be_forgiven(consecutive: bool, cost: float) -> None:
    account = account_of(loop_penalty=0.1, loop_consecutive=consecutive)
    paid = [account.turn(parsed(ToolCall(name)), ToolResult(""))["loop"] for name in ("test", "edit", "test")]
    assert paid == [0.0, 0.0, cost]


# --- thoughts ---------------------------------------------------------------------------------------------------------

WINDOW: Mapping[str, Any] = {"thought_penalty": 0.4, "thought_min": 100, "thought_max": 200, "thought_ramp": 50}


@pytest.mark.parametrize(
    ("length", "cost"),
    [(100, 0.0), (150, 0.0), (200, 0.0), (75, -0.2), (225, -0.2), (50, -0.4), (250, -0.4), (0, -0.4), (9999, -0.4)],
)
def test_a_thought_costs_nothing_inside_its_window_half_at_half_the_ramp_and_all_beyond(
    length: int, cost: float
) -> None:
    parts = account_of(**WINDOW).turn(parsed(thought="x" * length), ToolResult(""))
    assert parts["thought"] == pytest.approx(cost, abs=1e-12)


@given(st.integers(0, 400), st.integers(0, 400))
def test_a_thought_farther_outside_never_costs_less(one: int, other: int) -> None:
    spec = RewardSpec.of(WINDOW)
    near, far = sorted((one, other), key=lambda length: max(100 - length, length - 200, 0))
    assert spec.thought_excess("x" * near) <= spec.thought_excess("x" * far) + 1e-12


def test_the_ramp_is_flat_at_both_ends() -> None:
    spec = RewardSpec.of(WINDOW)
    assert spec.thought_excess("x" * 201) < 0.1 / 50
    assert 1.0 - spec.thought_excess("x" * 249) < 0.1 / 50


def test_thoughts_can_be_counted_in_words() -> None:
    spec = RewardSpec.of({"thought_unit": "words", "thought_min": 2, "thought_max": 3, "thought_ramp": 1})
    assert [spec.thought_excess(text) for text in ("a", "a b", "a b  c", "a b c d")] == [
        1.0,
        0.0,
        0.0,
        1.0,
    ]


def test_without_a_ramp_the_whole_penalty_begins_at_the_edge() -> None:
    spec = RewardSpec.of({"thought_max": 3, "thought_ramp": 0})
    assert [spec.thought_excess("x" * length) for length in (3, 4)] == [0.0, 1.0]


# --- diffs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lines", "cost"), [(0, 0.0), (20, 0.0), (21, -0.01), (30, -0.1), (5000, -0.5)])
def test_changed_lines_beyond_the_allowance_cost_up_to_the_cap(lines: int, cost: float) -> None:
    account = account_of(diff_penalty=0.01, diff_allowance=20, diff_cap=0.5)
    assert account.end(RESOLVED, {"diff_lines": lines})["diff"] == pytest.approx(cost, abs=1e-12)


def test_the_verifier_may_report_the_changed_lines_too() -> None:
    verdict = Verdict(RESOLVED.outcome, 1.0, parts={"diff_lines": 3.0})
    assert account_of(diff_penalty=0.1, diff_cap=0).end(verdict)["diff"] == pytest.approx(-0.3, abs=1e-12)


def test_an_unknown_diff_is_an_error_and_not_a_small_one() -> None:
    with pytest.raises(ConfigError, match="diff_lines"):
        account_of(diff_penalty=0.1).end(RESOLVED, {})


# --- process ----------------------------------------------------------------------------------------------------------


class Fixed:
    """A scorer that always answers the same, and remembers what it saw."""

    def __init__(self, answer: float) -> None:
        self.answer, self.seen = answer, list[Progress]()

    def score(self, progress: Progress) -> float:
        self.seen.append(progress)
        return self.answer


def half() -> Fixed:
    return Fixed(0.5)


def test_a_step_scorer_pays_per_step() -> None:
    register_scorer("half", half)
    first, second = run_twice(account_of(process=0.2, process_scorer="half"), "x")
    assert (first["process"], second["process"]) == (0.1, 0.1)


def test_a_step_scorer_sees_the_task_and_everything_up_to_the_step() -> None:
    scorer = Fixed(1.0)
    register_scorer("watching", lambda: scorer)
    account = RewardSpec.of({"process": 1, "process_scorer": "watching"}).start("add 1 and 1")
    for name in ("a", "b"):
        account.turn(parsed(ToolCall(name), thought="hm"), ToolResult("done", error="tool_failed", ran=False))
    assert scorer.seen[1].prompt == "add 1 and 1"
    assert [step.call.name for step in scorer.seen[1].steps if step.call] == ["a", "b"]
    step = scorer.seen[1].step
    assert (step.thought, step.result, step.error, step.ran) == ("hm", "done", "tool_failed", False)


def test_the_rule_clean_step_pays_for_steps_without_an_error() -> None:
    account = account_of(process=1, process_scorer="clean_step")
    results = [ToolResult("", ran=True), ToolResult("", ran=False), ToolResult("", error="timeout")]
    assert [account.turn(parsed(), result)["process"] for result in results] == [1.0, 0.0, 0.0]


def test_a_scorer_can_be_named_by_its_module_so_that_every_worker_finds_it() -> None:
    account = account_of(process=1, process_scorer="agent_envs.rewards:CleanStep")
    assert account.turn(parsed(), ToolResult(""))["process"] == 1.0


@pytest.mark.parametrize("answer", [math.nan, math.inf, -0.1, 1.1])
def test_a_scorer_that_answers_nonsense_is_our_fault_and_no_reward(answer: float) -> None:
    register_scorer("nonsense", lambda: Fixed(answer))
    with pytest.raises(InfraError, match="expected a number from 0 to 1"):
        account_of(process=1, process_scorer="nonsense").turn(parsed(), ToolResult(""))


def test_a_scorer_that_breaks_is_our_fault_and_no_reward() -> None:
    class Broken:
        def score(self, progress: Progress) -> float:
            raise ZeroDivisionError("no model")

    register_scorer("broken", Broken)
    with pytest.raises(InfraError, match="score a step with 'broken'"):
        account_of(process=1, process_scorer="broken").turn(parsed(), ToolResult(""))


# --- naming a reward --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_a_reward_survives_json(preset: str) -> None:
    spec = RewardSpec.of(preset)
    assert RewardSpec.of(json.loads(json.dumps(spec.to_dict()))) == spec


def test_a_mapping_can_start_from_a_preset() -> None:
    spec = RewardSpec.of({"preset": "seed", "loop_penalty": 0.5})
    assert (spec.format_bonus, spec.loop_penalty) == (0.2, 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("seeed", "did you mean 'seed'"),
        ("zzz", "expected one of: score, seed, shaped"),
        ({"loop_penalti": 1}, "did you mean 'loop_penalty'"),
        ({"preset": "sed"}, "did you mean 'seed'"),
        ({"outcome": "much"}, "wrong type"),
        ({"format_per": "week"}, "wrong type"),
        ({"outcome": math.nan}, "finite"),
        ({"loop_penalty": -0.5}, "^reward option loop_penalty is -0.5; .*write 0.5"),
        ({"thought_min": 9, "thought_max": 3}, "swap them"),
        ({"process": 1}, "process_scorer"),
    ],
)
def test_a_reward_that_cannot_work_is_refused_with_the_way_out(options: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        RewardSpec.of(options)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("clean_stp", "did you mean 'clean_step'"),
        ("agent_envs.rewards:Missing", "expected package.module:factory"),
        ("no_such_module:x", "expected package.module:factory"),
    ],
)
def test_a_scorer_that_does_not_exist_is_refused_with_the_nearest_name(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        account_of(process=1, process_scorer=name)


# --- accounts ---------------------------------------------------------------------------------------------------------


def test_the_account_of_a_forked_episode_continues_and_does_not_touch_the_original() -> None:
    account = account_of(loop_penalty=0.1, format_bonus=0.2)
    call = parsed(ToolCall("t"))
    account.turn(call, ToolResult(""))
    twin = account.copy()
    assert twin.turn(call, ToolResult("")) == no_reward() | {"loop": -0.1}
    assert account.turn(call, ToolResult("")) == no_reward() | {"loop": -0.1}


def test_the_sum_is_rounded_once() -> None:
    assert total({"a": 0.1, "b": 0.2, "c": -0.3}) == math.fsum((0.1, 0.2, -0.3))
    assert total(no_reward() | {"outcome": -0.2, "format": 0.2, "execution": 0.3}) == 0.3
