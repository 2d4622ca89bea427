"""`codeio`: thousands of real small programs, to predict (by running or reading) and to write again.

The programs are foreign. Inputs and outputs are made in a sandbox when a task is drawn, never in this process.
Only programs listed in codeio_programs.txt occur: quick ones whose output is plain data and depends on nothing but the
input, whatever the hash seed (scripts/list_codeio_programs.py finds them).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from random import Random

from agent_envs.envs.python_sandbox.tasks._calls import python, submit
from agent_envs.envs.python_sandbox.tasks._cases import SAME, json_value

from agent_envs.errors import MissingExtra, SandboxDied, TaskError
from agent_envs.tasks import GeneratedTaskSet, Task, TaskSet
from agent_envs.tools import ToolCall

SPLITS = {"train": range(2**31), "test": range(2**31, 2**32)}
_PAIRS = 12
_EXAMPLES = 3
_LONGEST = 400
"""Characters of an output that an agent is asked to write."""
_TRIES = 200
_RUN_S = 30.0
RUN = """
import copy, json, sys
from random import Random
job = json.loads(sys.stdin.read())
namespace = {"Random": Random, "__name__": "program"}
exec(job["program"], namespace)
generator = {"Random": Random, "__name__": "generator"}
exec("from typing import *\\n" + job["generator"], generator)
rng, pairs = Random(job["seed"]), []
for _ in range(job["count"]):
    given = json.loads(json.dumps(generator["generate_inputs"](rng), allow_nan=False))
    outputs = [json.dumps(namespace["main_solution"](**copy.deepcopy(given)), allow_nan=False) for _ in range(2)]
    if outputs[0] != outputs[1] or json.dumps(json.loads(outputs[0])) != outputs[0]:
        raise SystemExit("the output changes")
    pairs.append([given, json.loads(outputs[0])])
sys.stdout.write("\\n" + json.dumps(pairs))
"""


Pair = tuple[dict[str, object], object]
"""The arguments of a call, by name, and what it returned."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program of the data set, with the source that makes arguments for it."""

    description: str
    form: str
    source: str
    generator: str


def load() -> TaskSet:
    """Tasks of two kinds, tagged `predict` and `reimplement`; one program in ten occurs in the split `test` only.

    Needs the extra `tasks`, and a sandbox to draw a task.
    """
    return GeneratedTaskSet("codeio", _generated, splits=SPLITS, version="1")


@lru_cache(maxsize=256)
def _generated(seed: int) -> Task:
    rng = Random(seed)
    pool = _pool(held_out=seed in SPLITS["test"])
    for _ in range(_TRIES):
        program = pool[rng.randint(0, len(pool) - 1)]
        reimplement = rng.randint(0, 1) == 1
        pairs = _pairs(program, rng.randint(0, 2**31), count=_PAIRS if reimplement else 1)
        if reimplement and len({json.dumps(output) for _, output in pairs}) > 2:
            return _reimplement(program, pairs)
        if not reimplement and pairs and 0 < len(json.dumps(pairs[0][1])) <= _LONGEST and not _has_float(pairs[0][1]):
            return _predict(program, *pairs[0])
    raise TaskError(f"{_TRIES} programs of codeio gave no task; is the installed reasoning-gym complete?")


def _predict(program: Program, given: dict[str, object], output: object) -> Task:
    source = f"{program.source.strip()}\n"
    written = json.dumps(output, sort_keys=True)
    compact = json.dumps(output, sort_keys=True, separators=(",", ":"))
    call = f"import json\nprint(json.dumps(main_solution(**{given!r}), sort_keys=True))\n"
    return Task(
        id="codeio/predict",
        prompt=(
            "What does `main_solution` of this Python program return for the arguments below?\n\n"
            f"```python\n{source}```\n\n"
            f"Arguments, as JSON:\n\n```json\n{json.dumps(given)}\n```\n\n"
            "Submit the returned value as json.dumps(value, sort_keys=True) writes it, and nothing else."
        ),
        kind="text",
        secret={"answers": [written] if compact == written else [written, compact]},
        solution=(python(source + call), submit(written)),
        wrong=((submit(json.dumps([output, None])),),),
        difficulty="easy",
        tags=("predict",),
    )


def _reimplement(program: Program, pairs: list[Pair]) -> Task:
    shown = "\n".join(
        f"main_solution(**{given!r})\n# returns {output!r}" for given, output in _shortest(pairs)[:_EXAMPLES]
    )
    return Task(
        id="codeio/reimplement",
        prompt=(
            f"Write a Python function `main_solution`.\n\n{program.description.strip()}\n\n{program.form.strip()}\n\n"
            f"Examples:\n\n```python\n{shown}\n```\n\n"
            "Submit the complete source. It is called with other arguments of this form; floats may differ by rounding."
        ),
        kind="function",
        secret={
            "entry_point": "main_solution",
            "prelude": SAME,
            "asserts": [f"assert same(main_solution(**{given!r}), {output!r})" for given, output in pairs],
        },
        solution=_whole(program),
        wrong=((submit(f"def main_solution(*args, **kwargs):\n    return {pairs[0][1]!r}\n"),),),
        difficulty="hard",
        tags=("reimplement",),
    )


def _whole(program: Program) -> tuple[ToolCall, ...]:
    return (submit(f"{program.source.strip()}\n"),)


def _shortest(pairs: list[Pair]) -> list[Pair]:
    return sorted(pairs, key=lambda pair: len(repr(pair)))


def _has_float(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_has_float, value))
    if isinstance(value, dict):
        return any(map(_has_float, value.values()))
    return isinstance(value, float)


def _pairs(program: Program, seed: int, *, count: int) -> list[Pair]:
    """Arguments and results, made in a sandbox; none where the program is not fit for a task."""
    from agent_envs.sandboxes.ladder import start_sandbox
    from agent_envs.sandboxes.protocol import Status

    job = {"program": program.source, "generator": program.generator, "seed": seed, "count": count}
    sandbox = start_sandbox()
    try:
        run = sandbox.run_python(RUN, stdin=json.dumps(job).encode(), timeout_s=_RUN_S)
    finally:
        sandbox.close()
    if run.status is Status.TIMEOUT:
        # Another program in its place would make the task depend on how busy this machine is.
        raise SandboxDied(
            f"a program of codeio that takes a moment was not done after {_RUN_S:g} s; is this machine busy?"
        )
    if not run.ok:
        return []
    pairs = json_value(run.stdout.decode("utf-8", "replace").rpartition("\n")[2], "what a program of codeio printed")
    return [(pair[0], pair[1]) for pair in pairs]


@cache
def _pool(*, held_out: bool) -> tuple[Program, ...]:
    return tuple(program for key, program in _fit_programs() if (int(key, 16) % 10 == 0) == held_out)


def _fit_programs() -> list[tuple[str, Program]]:
    """The listed programs, by key, in the order of their keys."""
    listed = files("agent_envs.envs.python_sandbox.tasks").joinpath("codeio_programs.txt").read_text("ascii").split()
    programs = {key(program): program for program in every_program()}
    if missing := [name for name in listed if name not in programs]:
        raise TaskError(f"the installed reasoning-gym lacks {len(missing)} programs of codeio; install 0.1.23 or newer")
    return [(name, programs[name]) for name in listed]


def key(program: Program) -> str:
    """What the list calls a program."""
    return sha256(f"{program.source}\n{program.generator}".encode()).hexdigest()[:12]


def every_program() -> Iterator[Program]:
    """All programs of the installed reasoning-gym, fit for a task or not."""
    # Found without importing the package, which takes seconds.
    found = find_spec("reasoning_gym")
    if found is None or not found.origin:
        raise MissingExtra("reasoning-gym", extra="tasks")
    path = Path(found.origin).parent / "data" / "codeio.jsonl.gz"
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
    except (OSError, ValueError) as cause:
        raise TaskError(f"{path} cannot be read ({cause}); reinstall reasoning-gym") from cause
    for row in rows:
        yield Program(row["task_description"], row["input_output_spec"], row["code_sample"], row["input_generator"])
