"""Episodes, many at once: what is recorded, what is tried again, and what is never a reward."""

from __future__ import annotations

import time
from typing import Any

import pytest
from agent_envs.trainers import Rollouts, TrainConfig
from agent_envs.trainers.prompts import Prompts

from agent_envs.sampling import ChatFormat, Completion, LocalSampler, Request, Trajectory, stop_ids, tiny_model

SMALL = {"groups": 2, "group_size": 3, "max_new_tokens": 4, "max_turns": 5, "turn_seconds": 60.0, "retries": 1}
STRIPS_THOUGHTS = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'].split('</think>')[-1] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class InstantSampler:
    """Answers at once."""

    context = 4096

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def submit(self, request: Request) -> None:
        self.asked.append(request)

    def poll(self, wait_s: float) -> list[Completion]:
        done = [Completion(key=request.key, ids=[65, 66], logprobs=[-1.0, -1.0]) for request in self.asked]
        self.asked = []
        return done

    def refresh(self, model: Any, version: int) -> None:
        """Nothing to refresh."""


def rollouts(make_env: Any, *, chat: ChatFormat | None = None, sampler: Any = None, **options: Any) -> Rollouts:
    model, tokenizer = tiny_model()
    sampler = sampler or LocalSampler(model, stop_ids(model, tokenizer))
    return Rollouts(make_env, chat or ChatFormat(tokenizer), sampler, TrainConfig(**{**SMALL, **options}))


def play(made: Rollouts) -> dict[int, list[Trajectory]]:
    try:
        return made.play(Prompts(made.config).jobs(made.config.groups))
    finally:
        made.close()


def test_groups_are_complete_and_begin_alike(corridor: Any) -> None:
    groups = play(rollouts(corridor))
    assert [[t.member for t in group] for group in groups.values()] == [[0, 1, 2], [0, 1, 2]]
    for group in groups.values():
        assert len({t.shown[0] for t in group}) == 1
        assert len({t.segments[0] for t in group}) == 1
        assert len({t.segments[1] for t in group}) > 1
    assert groups[0][0].shown[0] != groups[1][0].shown[0]


def test_a_trajectory_holds_every_id_once_with_its_author(corridor: Any) -> None:
    _, tokenizer = tiny_model()
    chat = ChatFormat(tokenizer)
    trajectory = play(rollouts(corridor, chat=chat))[0][0]
    assert [segment.by_model for segment in trajectory.segments] == [False, True] * 3
    assert len(trajectory.rewards) == len(trajectory.state_hashes) == 3
    (row,) = trajectory.rows()
    assert row.trained == trajectory.trained == sum(len(s.logprobs) for s in trajectory.segments)
    assert set(row.turns) == {-1, 0, 1, 2}
    # The observation holds `<|im_end|>` as text, and the frame as a control token.
    opening = chat.opening(trajectory.shown[0][1])
    assert list(row.ids[: len(opening)]) == opening
    assert opening.count(tokenizer.eos_token_id) == 1


def test_a_template_that_rewrites_history_gives_a_row_for_each_turn(corridor: Any) -> None:
    _, tokenizer = tiny_model()
    tokenizer.chat_template = STRIPS_THOUGHTS
    trajectory = play(rollouts(corridor, chat=ChatFormat(tokenizer)))[0][0]
    rows = trajectory.rows()
    assert len(rows) == 3
    assert [max(row.turns) for row in rows] == [0, 1, 2]


def test_the_same_seed_plays_the_same_episodes(corridor: Any) -> None:
    first, second = (
        [[[segment.ids for segment in t.segments] for t in group] for group in play(rollouts(corridor)).values()]
        for _ in range(2)
    )
    assert first == second


@pytest.mark.parametrize("fault", ["raise", "hang", "not text", "not valid"])
def test_what_breaks_on_the_environments_side_is_tried_again_in_a_new_one(faulty: Any, fault: str) -> None:
    faulty.faults.append(fault)
    made = rollouts(faulty, turn_seconds=8.0 if fault == "hang" else 60.0)
    groups = play(made)
    assert [len(group) for group in groups.values()] == [3, 3]
    assert all(t.reward_valid and len(t.rewards) == 3 for group in groups.values() for t in group)
    assert made.counts["retries"] == 1


def test_the_whole_group_is_dropped_where_trying_again_does_not_help(faulty: Any) -> None:
    faulty.faults.extend(["raise"] * 2)
    made = rollouts(faulty, seats=1)
    assert list(play(made)) == [1]
    assert made.counts["dropped_groups"] == 1
    assert "the disk is on fire" in made.last_fault


def test_an_episode_without_end_is_truncated(endless: Any) -> None:
    trajectory = play(rollouts(endless))[0][0]
    assert (trajectory.end, trajectory.truncated, len(trajectory.rewards)) == ("max_turns", True, 5)


def test_an_episode_that_fills_the_context_is_truncated(endless: Any) -> None:
    trajectory = play(rollouts(endless, context=220, max_turns=99))[0][0]
    assert (trajectory.end, trajectory.truncated) == ("context", True)
    assert len(trajectory.rows()[0].ids) <= 220


def test_a_prompt_longer_than_the_context_is_counted_and_skipped(corridor: Any) -> None:
    made = rollouts(corridor, context=20)
    assert play(made) == {}
    assert made.counts["prompt_too_long"] == 2
    assert made.counts["dropped_groups"] == 2


def test_eight_slow_tools_take_the_time_of_one(corridor: Any) -> None:
    slow = type("Slow", (corridor,), {"wait_s": 0.5})
    made = rollouts(slow, sampler=InstantSampler(), groups=1, group_size=8)
    began = time.monotonic()
    play(made)
    # Three turns of half a second, and not twenty-four.
    assert time.monotonic() - began < 6
