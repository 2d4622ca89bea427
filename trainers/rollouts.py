"""Episodes, many at once: one environment and one thread of its own in every seat, and one sampler for all of them.

One decision: a single loop moves every episode on, whenever its environment or the sampler has an answer; nothing waits
for the slowest of a batch. What breaks on the environment's side is tried again in a new environment, and where that
fails too the whole group is dropped: a fault is never a reward.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import gymnasium
from agent_envs.trainers.config import TrainConfig

from agent_envs.sampling.chat import ChatFormat
from agent_envs.sampling.protocol import Completion, Request, Sampler
from agent_envs.sampling.trajectory import Segment, Trajectory

_log = logging.getLogger(__name__)
MakeEnv = Callable[[], gymnasium.Env[Any, Any]]
Reset = tuple[int, str]
"""What an episode begins with: a seed, and the id of a task or nothing."""


@dataclass(frozen=True, slots=True)
class Job:
    """One episode that is to be played."""

    group: int
    member: int
    start: Reset
    draws: int
    """Seeds what the model samples."""
    attempt: int = 0


class Seat:
    """An environment and the one thread that touches it; where it hangs, both are left behind."""

    def __init__(self, make_env: MakeEnv, answers: queue.SimpleQueue[Any]) -> None:
        self._make_env, self._answers = make_env, answers
        self._calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._serve, daemon=True, name="agent-envs-seat")
        self._thread.start()

    def reset(self, ticket: int, start: Reset) -> None:
        """Ask for a new episode; the answer carries the ticket."""
        seed, task_id = start
        options = {"task_id": task_id} if task_id else None
        self._calls.put((ticket, lambda env: env.reset(seed=seed, options=options)))

    def step(self, ticket: int, action: str) -> None:
        """Ask for a step."""
        self._calls.put((ticket, lambda env: env.step(action)))

    def leave(self) -> threading.Thread:
        """Close the environment as soon as it answers; the thread ends with it."""
        self._calls.put(None)
        return self._thread

    def _serve(self) -> None:
        env: gymnasium.Env[Any, Any] | None = None
        while (call := self._calls.get()) is not None:
            ticket, ask = call
            try:
                env = env or self._make_env()
                self._answers.put((ticket, ask(env)))
            except Exception as fault:  # noqa: BLE001 - whatever an environment raises is counted, and tried again
                self._answers.put((ticket, fault))
        if env is not None:
            env.close()


@dataclass(slots=True)
class _Episode:
    job: Job
    seat: Seat
    trajectory: Trajectory
    began: float
    asked: float
    memory: Any = None
    context: list[int] = field(default_factory=list)
    version: int = -1


class Rollouts:
    """Plays groups of episodes, many at once.

    Args:
        make_env: Makes one environment; called once a seat, and again after each fault.
        chat: The format of prompts.
        sampler: Who acts.
        config: What an episode may cost, and how many are played at once.
    """

    def __init__(self, make_env: MakeEnv, chat: ChatFormat, sampler: Sampler, config: TrainConfig) -> None:
        self.make_env, self.chat, self.sampler, self.config = make_env, chat, sampler, config
        self.counts: Counter[str] = Counter()
        """Faults, retries and dropped groups since the start, by name."""
        self.last_fault = ""
        self.temperature = config.temperature
        self.version = 0
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._idle: list[Seat] = []
        self._live: dict[int, _Episode] = {}
        self._waiting: deque[Job] = deque()
        self._done: dict[int, list[Trajectory]] = {}
        self._dropped: set[int] = set()
        self._tickets = 0
        self._context = min(config.context or sampler.context, sampler.context)

    def play(self, jobs: Iterable[Job]) -> dict[int, list[Trajectory]]:
        """Play every job and return the complete groups, their members in order; dropped groups are missing."""
        self._waiting, self._done, self._dropped = deque(jobs), {}, set()
        while self._waiting or self._live:
            self._seat_next()
            for completion in self.sampler.poll(0.05):
                self._said(completion)
            self._listen()
            self._watch()
        for group in self._dropped:
            self._done.pop(group, None)
        return {group: sorted(done, key=lambda t: t.member) for group, done in sorted(self._done.items())}

    def close(self) -> None:
        """Close every environment that answers within some seconds."""
        until = time.monotonic() + 10.0
        for thread in [seat.leave() for seat in [*self._idle, *(e.seat for e in self._live.values())]]:
            thread.join(max(0.0, until - time.monotonic()))
        self._idle, self._live = [], {}

    # --- The life of an episode ---------------------------------------------------------------------------------

    def _seat_next(self) -> None:
        while self._waiting and len(self._live) < self.config.seats:
            job = self._waiting.popleft()
            if job.group in self._dropped:
                continue
            seat = self._idle.pop() if self._idle else Seat(self.make_env, self._answers)
            seed, task_id = job.start
            trajectory = Trajectory(
                group=job.group, member=job.member, start=task_id or f"seed={seed}", policy_version=self.version
            )
            now = time.monotonic()
            seat.reset(self._enter(_Episode(job, seat, trajectory, now, now)), job.start)

    def _enter(self, episode: _Episode) -> int:
        """A new ticket: answers to an older one come too late."""
        self._tickets += 1
        self._live[self._tickets] = episode
        episode.asked = time.monotonic()
        return self._tickets

    def _listen(self) -> None:
        """Take what environments have answered; wait a little where nobody else is working."""
        sampling = any(not episode.asked for episode in self._live.values())
        wait_s = 0.0 if sampling or not self._live else 0.02
        while True:
            try:
                ticket, answer = self._answers.get(timeout=wait_s) if wait_s else self._answers.get_nowait()
            except queue.Empty:
                return
            wait_s = 0.0
            episode = self._live.pop(ticket, None)
            if episode is not None and episode.job.group in self._dropped:
                self._idle.append(episode.seat)
            elif episode is not None:
                self._answered(episode, answer)

    def _answered(self, episode: _Episode, answer: Any) -> None:
        if isinstance(answer, Exception):
            return self._fail(episode, f"{type(answer).__name__}: {answer}")
        if not isinstance(answer[0], str):
            kind = type(answer[0]).__name__
            return self._fail(episode, f"the observation is a {kind}; expected text (see agent_envs.spaces)")
        observation, *rest, info = answer
        ended = False
        if rest:
            reward, terminated, truncated = rest
            ended = bool(terminated or truncated)
            episode.trajectory.rewards.append(float(reward))
            episode.trajectory.errors.append(str(info.get("error", "")))
            if ended and not info.get("reward_valid", True):
                return self._fail(episode, f"the environment says that this reward is not valid: {observation[-300:]}")
        episode.trajectory.shown.append(("environment", observation))
        if not ended:
            return self._ask_model(episode, observation, str(info.get("state_hash", "")))
        end = str(info.get("end_reason") or ("terminated" if terminated else "truncated"))
        solved = info["outcome"] == "resolved" if "outcome" in info else self._rewarded(episode)
        return self._finish(episode, end, solved=solved, truncated=not terminated)

    def _rewarded(self, episode: _Episode) -> bool:
        return episode.trajectory.reward >= self.config.success_reward

    def _ask_model(self, episode: _Episode, observation: str, state_hash: str) -> None:
        trajectory, chat = episode.trajectory, self.chat
        fresh = not trajectory.segments or not chat.keeps_history
        if not trajectory.segments:
            new = chat.opening(observation)
        elif fresh:
            new = chat.rewritten(trajectory.shown)
        else:
            new = chat.following(list(trajectory.segments[-1].ids), observation)
        context = new if fresh else episode.context + new
        turn = len(trajectory.rewards)
        if turn >= self.config.max_turns or len(context) + self.config.max_new_tokens > self._context:
            if turn == 0:
                self.counts["prompt_too_long"] += 1
                return self._drop(episode, f"the prompt has {len(context)} ids, too many for {self._context}")
            end = "max_turns" if turn >= self.config.max_turns else "context"
            return self._finish(episode, end, solved=self._rewarded(episode), truncated=True)
        trajectory.segments.append(Segment(tuple(new), fresh=fresh))
        trajectory.state_hashes.append(state_hash)
        episode.context = context
        ticket = self._enter(episode)
        episode.asked = 0.0
        self.sampler.submit(
            Request(
                key=ticket,
                ids=context,
                max_new=self.config.max_new_tokens,
                temperature=self.temperature,
                seed=hash((episode.job.draws, turn, episode.job.attempt)) & 0xFFFFFFFF,
                memory=None if fresh else episode.memory,
            )
        )
        return None

    def _said(self, completion: Completion) -> None:
        episode = self._live.pop(completion.key, None)
        if episode is None:
            return
        if completion.error:
            self._fail(episode, completion.error)
            return
        episode.trajectory.segments.append(Segment(tuple(completion.ids), tuple(completion.logprobs), by_model=True))
        episode.context = episode.context + completion.ids
        episode.memory = completion.memory
        action = self.chat.text(completion.ids)
        episode.trajectory.shown.append(("model", action))
        episode.seat.step(self._enter(episode), action)

    def _watch(self) -> None:
        """End what takes too long."""
        now = time.monotonic()
        for ticket, episode in list(self._live.items()):
            late = 0.0 < episode.asked < now - self.config.turn_seconds
            if late or now - episode.began > self.config.episode_seconds:
                del self._live[ticket]
                self.counts["timeouts"] += 1
                self._fail(episode, f"no answer within {now - (episode.asked or episode.began):.0f} s")

    def _finish(self, episode: _Episode, end: str, *, solved: bool, truncated: bool) -> None:
        trajectory = episode.trajectory
        trajectory.end, trajectory.solved, trajectory.truncated = end, solved, truncated
        self._idle.append(episode.seat)
        self._done.setdefault(episode.job.group, []).append(trajectory)

    def _fail(self, episode: _Episode, why: str) -> None:
        """Try again in a new environment; the group is dropped where that has been done often enough."""
        _log.warning("an episode of group %s failed: %s", episode.job.group, why)
        self.counts["faults"] += 1
        if (job := episode.job).attempt >= self.config.retries:
            return self._drop(episode, why, broken=True)
        episode.seat.leave()
        self.counts["retries"] += 1
        self._waiting.appendleft(Job(job.group, job.member, job.start, job.draws, job.attempt + 1))
        return None

    def _drop(self, episode: _Episode, why: str, *, broken: bool = False) -> None:
        self.last_fault = why
        if broken:
            episode.seat.leave()
        else:
            self._idle.append(episode.seat)
        if episode.job.group not in self._dropped:
            self._dropped.add(episode.job.group)
            self.counts["dropped_groups"] += 1
