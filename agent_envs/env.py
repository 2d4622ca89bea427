"""The one episode loop, shared by every environment.

    action -> dialect -> tool -> reward parts -> end?  ->  freeze -> destroy -> verify -> record

An environment adds three things: a task set, a session class whose `@tool` methods act, and a verifier that judges
what the session leaves behind. What the agent does wrong comes back as text; what breaks on our side ends the
episode as `INFRA_ERROR` with `reward_valid` false, here and nowhere else.
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self, SupportsFloat, Unpack

import gymnasium
import numpy as np

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.dialects import Dialect, Parsed, get_dialect, parse_mapping, too_long
from agent_envs.episode import Episode, EpisodeRecorder, append_episode, check_writable, transcript
from agent_envs.errors import (
    END_POLICY,
    ConfigError,
    EndReason,
    EnvClosed,
    InfraError,
    ResetNeeded,
    SandboxDied,
    SandboxUnavailable,
    TaskError,
    ToolFailed,
    VerifierFailed,
    boundary,
)
from agent_envs.json_lines import JsonObject
from agent_envs.options import CommonOptions, Options
from agent_envs.rewards import RewardAccount, RewardParts, RewardSpec, add, no_reward, total
from agent_envs.session import Session
from agent_envs.spaces import ToolCallSpace, UnicodeText
from agent_envs.tasks import Task, TaskSet
from agent_envs.tools import Action, Toolbox, ToolCall, ToolResult
from agent_envs.verifiers.protocol import Verifier, must_verify, verify_safely


class AgentEnv(gymnasium.Env[str, str]):
    """A Gymnasium environment whose actions are tool calls written as text.

    Observations are texts: the task at `reset`, afterwards only what is new. `step` takes the model's raw text, or a
    mapping `{"name": ..., "arguments": {...}}`. The verdict is reached after the agent's sandbox is destroyed.

    Subclasses implement `open_session`; constructors only assign, `reset` acquires, `close` releases.

    Args:
        tasks: Where tasks come from.
        session: The session class; its `@tool` methods are the tools.
        verifier: Judges the artifact of an episode that has ended.
        render_mode: None, or one of `metadata["render_modes"]`.
        options: See `agent_envs.options.Options`.
    """

    task_sets: ClassVar[tuple[str, ...]] = ()
    """The names of the task sets this environment offers, where it has several."""
    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - Gymnasium's own declaration

    def __init__(
        self,
        *,
        tasks: TaskSet,
        session: type[Session],
        verifier: Verifier,
        render_mode: str | None = None,
        **options: Unpack[CommonOptions],
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            modes = " or ".join(map(repr, self.metadata["render_modes"]))
            raise ConfigError(f"render_mode is {render_mode!r}; expected None or {modes}")
        self.options = Options.of(options)
        self.render_mode = render_mode
        self.toolbox = Toolbox(session)
        if self.options.tools:
            self.toolbox = self.toolbox.subset(self.options.tools)
        self.verifier = must_verify(verifier)
        self.dialect: Dialect = get_dialect(self.options.dialect)
        self.reward_spec = RewardSpec.of(self.options.reward)
        self.clock: Callable[[], float] = time.monotonic
        self._texts = UnicodeText(self.options.observation_chars)
        self.observation_space = self._texts
        self.action_space = ToolCallSpace(self.toolbox, self.options.action_chars)
        self.episode: Episode | None = None
        """The record of the episode that ended last."""
        self.before_tool: Callable[[ToolCall, int], None] | None = None
        """Called with each call and its number (from 1) before it is run; what it raises counts as our fault."""
        self._all_tasks = tasks
        self._run: _Run | None = None
        self._closed = False

    @cached_property
    def tasks(self) -> TaskSet:
        """The tasks of the chosen split."""
        return self._all_tasks.split(self.options.split or self._all_tasks.splits[0])

    def open_session(self, task: Task) -> Session:
        """Start the live side of an episode; the one method an environment must write."""
        raise NotImplementedError(f"{type(self).__name__} must implement open_session(task)")

    def pick_task(self, options: JsonObject) -> Task:
        """The task that `reset` begins: by its id where `options` names one, else drawn by the seed."""
        if not isinstance(options, Mapping):
            raise ConfigError(f"the options of reset are {options!r}; expected a mapping such as {{'task_id': ...}}")
        unknown = [name for name in options if name != "task_id"]
        if unknown:
            raise ConfigError(f"unknown reset option {unknown[0]!r}; expected only 'task_id'")
        if "task_id" in options:
            task_id = options["task_id"]
            if not isinstance(task_id, str):
                raise ConfigError(f"the reset option task_id is {task_id!r}; expected the id of a task")
            return self.tasks.task(task_id)
        return self.tasks.draw(self.np_random)

    # --- Gymnasium's three methods ------------------------------------------------------------------------------

    def reset(self, *, seed: int | None = None, options: JsonObject | None = None) -> tuple[str, JsonObject]:
        """Begin an episode: `seed` picks the task, `options={"task_id": ...}` picks it by name.

        Returns:
            The task as text, and `info` with `task_id`, `tools` (OpenAI schemas) and `prompt` (its parts:
            `task`, `instructions`, and `opening`, what there is to see at the start).

        Raises:
            UnknownTask: no task has the requested id.
            SandboxUnavailable: this machine cannot isolate the agent; the message says what would allow it.
        """
        if self._closed:
            raise EnvClosed("this environment is closed; make a new one")
        super().reset(seed=seed)
        self._release()
        task = self.pick_task({} if options is None else options)
        if self.options.record:
            check_writable(self.options.record)
        session = self._open(task)
        prompt = {"task": task.prompt, "instructions": self._instructions, "opening": session.opening}
        parts = [
            part for name, part in prompt.items() if part and (self.options.instructions or name != "instructions")
        ]
        observation = self._texts.clip("\n\n".join(parts))
        seeded = -1 if seed is None else seed
        recorder = EpisodeRecorder(
            task, env=self._spec_json, seed=seeded, dialect=self.dialect.name, prompt=observation
        )
        self._run = _Run(task, session, recorder, self.reward_spec.start(task.prompt), self.clock())
        return observation, {"task_id": task.id, "tools": self.toolbox.schemas(), "prompt": prompt}

    def step(self, action: Action) -> tuple[str, SupportsFloat, bool, bool, JsonObject]:
        """Act once.

        Args:
            action: The agent's raw text, or a mapping `{"name": ..., "arguments": {...}}`.

        Returns:
            Gymnasium's five values. `info` always holds `call` (JSON), `error`, `repairs`, `reward_parts`, and
            `end_reason`, `outcome`, `score` (-1.0 while unknown), `reward_valid`.

        Raises:
            ResetNeeded: no episode is running.
        """
        run = self._running()
        began = self.clock()
        parsed = self._parse(action)
        end, result, verdict = self._overdrawn(run), ToolResult(""), None
        try:
            if end is None:
                result = self._act(run, parsed)
                end = self._end(run, parsed, result)
            parts = run.account.turn(parsed, result)
            if end is not None:
                verdict = self._judge(run)
                parts = add(parts, run.account.end(verdict, run.metrics))
        except (InfraError, TaskError) as fault:
            end, verdict, parts = EndReason.INFRA_ERROR, Verdict.error(str(fault)), no_reward()
            # Nothing of the fault itself: it may quote what only the verifier may know. The record has it.
            result = ToolResult("the environment failed, not you; this episode does not count")
        except BaseException:
            # Interrupted (Ctrl-C, a time-out of the caller): the session is still busy with this action.
            self._release()
            raise
        observation = self._texts.clip(result.text)
        said = action if isinstance(action, str | Mapping) else repr(action)[:1000]
        run.recorder.add_turn(said, parsed, result, observation, parts, wall_s=self.clock() - began)
        info = _info(parsed, result, parts, end, verdict)
        if end is not None:
            self._finish(run, end, verdict)
        terminated = end is not None and END_POLICY[end].terminated
        return observation, total(parts), terminated, end is not None and not terminated, info

    def close(self) -> None:
        """Release everything; idempotent, and safe at any moment."""
        self._release()
        self._closed = True

    def render(self) -> str | np.ndarray | None:
        """The episode so far as readable text, where `render_mode` is `"ansi"`."""
        if self.render_mode != "ansi":
            return None
        episode = self._run.recorder.episode() if self._run else self.episode
        return transcript(episode) if episode else ""

    # --- What trainers and benchmarks need beyond Gymnasium -----------------------------------------------------

    @property
    def task(self) -> Task:
        """The task of the running episode."""
        return self._running().task

    @property
    def isolation(self) -> str:
        """What separates the running episode's agent from this machine."""
        return self._running().session.isolation

    def set_options(self, **changes: Unpack[CommonOptions]) -> None:
        """Change budgets from the next step on; what shapes the spaces or the prompt is fixed at construction."""
        fixed = set(changes) - {"max_steps", "max_seconds", "max_tokens", "max_malformed", "record"}
        if fixed:
            raise ConfigError(f"{min(fixed)!r} is fixed at construction; pass it to gymnasium.make")
        self.options = replace(self.options, **changes)

    def charge_tokens(self, count: int) -> None:
        """Count sampled tokens against `max_tokens`; the step after the budget is spent ends the episode."""
        if type(count) is not int or count < 0:
            raise ConfigError(f"{count!r} tokens were charged; expected a whole number from 0 on")
        self._running().tokens += count

    def abort(self, reason: EndReason, why: str) -> Episode:
        """End the running episode from outside, because the agent itself failed; nothing is graded."""
        run = self._running()
        if reason not in END_POLICY:
            raise ConfigError(f"the reason is {reason!r}; expected an EndReason, such as EndReason.AGENT_ERROR")
        self._finish(run, EndReason(reason), Verdict.error(why))
        assert self.episode is not None
        return self.episode

    def fork(self) -> Self:
        """A second environment that continues from this very state, for tree search and best-of-n.

        Raises:
            ToolFailed: the session cannot be copied; the message says why.
        """
        run = self._running()
        with boundary(SandboxDied, "fork the session"):
            session = run.session.fork()
        twin = copy.copy(self)
        twin._np_random = copy.deepcopy(self._np_random)
        twin._run = run.forked(session)
        return twin

    # --- The stations of the loop -------------------------------------------------------------------------------

    def _open(self, task: Task) -> Session:
        # Once more on a fault of the moment, but not where this machine can never do it.
        try:
            with boundary(SandboxDied, "start the session"):
                return self.open_session(task)
        except InfraError as fault:
            if isinstance(fault, SandboxUnavailable) and not fault.passing:
                raise
            with boundary(SandboxDied, "start the session, at the second attempt"):
                return self.open_session(task)

    def _parse(self, action: Action) -> Parsed:
        if not isinstance(action, str | Mapping):
            what = f"the action is of type {type(action).__name__}, so nothing was done"
            return Parsed(None, "", "malformed", f"error: malformed: {what}; expected text", (), well_formed=False)
        if isinstance(action, str):
            if len(action) > self.options.action_chars:
                return too_long(len(action), self.options.action_chars)
            return self.dialect.parse(action, self.toolbox)
        return parse_mapping(action, self.toolbox)

    def _act(self, run: _Run, parsed: Parsed) -> ToolResult:
        run.count(parsed)
        if parsed.call is None or parsed.error or run.account.ends(parsed):
            return ToolResult(parsed.message, error=parsed.error)
        call = parsed.call
        tool = self.toolbox[call.name]
        try:
            with boundary(SandboxDied, f"run the tool {tool.name}"):
                if self.before_tool is not None:
                    self.before_tool(call, run.steps)
                result = tool.call(run.session, tool.validate(call.arguments))
        except ToolFailed as failure:
            return ToolResult(f"error: {failure}", error="tool_failed", ran=False)
        if not isinstance(result, ToolResult):
            result = ToolResult(str(result))
        return replace(result, text=f"{parsed.message}\n{result.text}") if parsed.message else result

    def _overdrawn(self, run: _Run) -> EndReason | None:
        """The budget that ran out while the agent was thinking: the action comes too late and is not run."""
        if 0 < self.options.max_tokens <= run.tokens:
            return EndReason.TOKEN_BUDGET
        if 0.0 < self.options.max_seconds <= self.clock() - run.began:
            return EndReason.WALL_TIME
        return None

    def _end(self, run: _Run, parsed: Parsed, result: ToolResult) -> EndReason | None:
        if result.ends:
            return EndReason.SUBMITTED
        if run.account.ends(parsed) or run.malformed >= self.options.max_malformed:
            return EndReason.MALFORMED
        if run.steps >= self.options.max_steps:
            return EndReason.MAX_STEPS
        return self._overdrawn(run)

    def _judge(self, run: _Run) -> Verdict:
        with boundary(SandboxDied, "freeze what the agent left"):
            run.artifact = run.session.freeze()
            run.metrics = run.session.metrics
            run.session.close()
        verdict = verify_safely(self.verifier, run.task, run.artifact)
        if verdict.outcome is Outcome.ERROR:
            raise VerifierFailed(str(verdict.evidence.get("why", "the verifier gave no reason")))
        return verdict

    def _finish(self, run: _Run, end: EndReason, verdict: Verdict | None) -> None:
        self._run = None
        run.session.close()
        self.episode = run.recorder.finish(end, verdict, run.artifact)
        if self.options.record:
            append_episode(self.options.record, self.episode)

    def _running(self) -> _Run:
        if self._run is not None:
            return self._run
        if self._closed:
            raise EnvClosed("this environment is closed; make a new one")
        raise ResetNeeded("no episode is running: it has not begun or has ended; call reset() first")

    def _release(self) -> None:
        run, self._run = self._run, None
        if run is not None:
            run.session.close()

    @cached_property
    def _instructions(self) -> str:
        return self.dialect.instructions(self.toolbox)

    @cached_property
    def _spec_json(self) -> str:
        """The id and options by which `gymnasium.make` makes this environment again."""
        if self.spec is None:
            return ""
        return json.dumps({"id": self.spec.id, "kwargs": self.spec.kwargs}, sort_keys=True, default=repr)


@dataclass(slots=True)
class _Run:
    """The running episode."""

    task: Task
    session: Session
    recorder: EpisodeRecorder
    account: RewardAccount
    began: float
    steps: int = 0
    malformed: int = 0
    """Actions in a row without a readable call."""
    tokens: int = 0
    artifact: Artifact | None = None
    metrics: dict[str, float] = field(default_factory=dict)

    def count(self, parsed: Parsed) -> None:
        """Count one action."""
        self.steps += 1
        self.malformed = self.malformed + 1 if parsed.error == "malformed" else 0

    def forked(self, session: Session) -> _Run:
        """The same episode, continued by another session."""
        return replace(
            self, session=session, recorder=self.recorder.copy(), account=self.account.copy(), metrics={**self.metrics}
        )


def _info(
    parsed: Parsed, result: ToolResult, parts: RewardParts, end: EndReason | None, verdict: Verdict | None
) -> JsonObject:
    """Always fresh, with the same keys and types, and nothing in it that two equal runs would not share."""
    return {
        "call": parsed.call.to_json() if parsed.call is not None else "",
        "error": parsed.error or result.error,
        "repairs": ",".join(parsed.repairs),
        "reward_parts": parts,
        "end_reason": str(end or ""),
        "outcome": str(verdict.outcome) if verdict is not None else "",
        "score": -1.0 if verdict is None or verdict.score is None else verdict.score,
        "reward_valid": end is None or END_POLICY[end].reward_valid,
    }
