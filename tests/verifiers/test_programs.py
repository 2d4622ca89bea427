"""What judging a program by its output promises: hidden inputs one at a time, and a named end for every case."""

from __future__ import annotations

from typing import Any

import pytest
from agent_envs.verifiers import ProgramVerifier

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.errors import TaskError
from agent_envs.tasks import Task

CASES = [{"stdin": f"{a} {b}\n", "stdout": f"{a + b}\n"} for a, b in ((1, 2), (10, 20), (0, 0))]
HONEST = "print(sum(map(int, input().split())))"


def judged(program: str, verifier: ProgramVerifier | None = None, **secret: Any) -> Verdict:
    task = Task(id="t", prompt="", secret={"cases": CASES, "time_s": 60.0} | secret)
    return (verifier or ProgramVerifier()).verify(task, Artifact(answer=program, submitted=True))


@pytest.mark.parametrize(
    "program",
    [
        HONEST,
        f"```python\n{HONEST}\n```",
        "import sys\nprint(sum(int(n) for n in sys.stdin.read().split()), end='   \\n\\n')",
        "if __name__ == '__main__':\n    a, b = map(int, input().split())\n    print(a + b)\n    raise SystemExit",
        "import sys\nsys.stderr.write('debug')\na, b = map(int, input().split())\nsys.stdout.write(str(a + b))",
    ],
)
def test_an_honest_program_passes(program: str) -> None:
    verdict = judged(program)
    assert (verdict.outcome, verdict.score, verdict.parts) == (Outcome.RESOLVED, 1.0, {"cases_passed": 1.0})


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("print(3)", "wrong"),
        ("", "wrong"),
        ("print('3\\n30\\n0')", "wrong"),
        ("raise ValueError", "crash"),
        (f"{HONEST}; raise SystemExit(1)", "crash"),
        (f"{HONEST}\nimport os; os.abort()", "crash"),
        ("while True: pass", "timeout"),
        ("import time; time.sleep(1000)", "timeout"),
        (f"{HONEST}\nwhile True: pass", "timeout"),
        ("while True: print('x' * 10000)", "output_limit"),
        ("x = bytearray(1 << 34)", "oom"),
        ("import os\nos.kill(os.getpid(), 9)", "crash"),
        ("print(3", "crash"),
        ("import os\nos.write(1, b'\\xff\\xfe3')", "wrong"),
    ],
)
def test_every_way_to_fail_has_a_name(program: str, status: str) -> None:
    # What ends by itself may need more than a second for it on a busy machine.
    verdict = judged(program, time_s=1.0 if status == "timeout" else 60.0)
    assert verdict.outcome is Outcome.UNRESOLVED
    assert verdict.score == 0.0
    assert verdict.evidence["failures"][0]["status"] == status, verdict.evidence


def test_a_program_learns_nothing_about_other_cases() -> None:
    spy = (
        "import os, glob\nold = [n for d in ('.', '/tmp', '/dev/shm') for n in os.listdir(d)]\n"
        "open('seen', 'w').write('x'); open('/tmp/seen', 'w').write('x')\n"
        "if os.fork() == 0:\n    os.setsid()\n    import time; time.sleep(30)\n"
        "procs = [p for p in glob.glob('/proc/[0-9]*') if b'sleep' in open(p + '/cmdline', 'rb').read()]\n"
        "print(old, procs)"
    )
    case = {"stdin": "", "stdout": "[] []"}
    assert judged(spy, cases=[case, case, case]).outcome is Outcome.RESOLVED


def test_neither_expected_output_nor_later_inputs_are_in_the_sandbox() -> None:
    search = (
        "import os, gc, sys\ntext = repr(gc.get_objects()) + repr(os.environ) + repr(sys.argv) + sys.stdin.read()\n"
        "print('-'.join(('SECRET', 'OUT')) in text, '-'.join(('SECRET', 'IN')) in text)"
    )
    cases = [{"stdin": "", "stdout": "False False"}, {"stdin": "SECRET-IN", "stdout": "SECRET-OUT"}]
    assert judged(search, cases=cases).evidence["cases_passed"] == 1


def test_the_first_failure_ends_the_judging_unless_every_case_is_wanted() -> None:
    program = "a, b = map(int, input().split())\nprint(a + b if a != 1 else 'no')"
    assert judged(program).parts == {"cases_passed": 0.0}
    every = judged(program, ProgramVerifier(every_case=True))
    assert (every.score, every.parts) == (0.0, {"cases_passed": pytest.approx(2 / 3)})
    assert judged(program, ProgramVerifier(partial=True)).score == pytest.approx(2 / 3)


def test_a_failure_shows_the_first_line_that_differs() -> None:
    verdict = judged("print('a\\nb\\nX')", cases=[{"stdout": "a\nb\nc\n"}])
    assert verdict.evidence["failures"][0]["first_difference"] == "line 3: expected 'c', printed 'X'"


@pytest.mark.parametrize(
    ("checker", "printed", "expected", "same"),
    [
        ("exact", "a  b", "a b", False),
        ("exact", "a b  ", "a b\n\n", True),
        ("exact", " a", "a", False),
        ("tokens", "a\n\n b", "a b", True),
        ("tokens", "ab", "a b", False),
        ("floats", "0.33333334 x", "0.333333333 x", True),
        ("floats", "0.34", "0.333333333", False),
        ("floats", "nan", "0.5", False),
        ("floats", "inf", "1e308", False),
        ("floats", "1e999", "1e308", False),
        ("floats", "1000000000000000001", "1000000000000000000", False),
        ("floats", "1.0", "1", True),
        ("floats", "0.5 0.5", "0.5", False),
    ],
)
def test_checkers_compare_as_they_say(checker: str, printed: str, expected: str, same: bool) -> None:
    verdict = judged(f"print({printed!r})", checker=checker, cases=[{"stdout": expected}])
    assert (verdict.outcome is Outcome.RESOLVED) is same, verdict.evidence


def test_memory_is_bounded_by_the_task() -> None:
    hungry = "x = bytearray(200 << 20)\nprint(sum(map(int, input().split())))"
    assert judged(hungry, memory_mb=600).outcome is Outcome.RESOLVED
    for program in (hungry, "x = []\nwhile True: x.append(bytearray(1 << 24))"):
        failure = judged(program, memory_mb=64).evidence["failures"][0]
        assert failure["status"] == "oom" or "MemoryError" in failure["stderr"], failure


@pytest.mark.parametrize(
    "secret",
    [
        {"cases": []},
        {"cases": [{}]},
        {"cases": [{"stdin": "1", "stdout": ""}]},
        {"cases": ["x"]},
        {"checker": "fuzzy"},
        {"cases": [{"stdin": 1, "stdout": "1"}]},
        {"cases": "3"},
    ],
)
def test_a_task_without_an_expectation_is_the_authors_error(secret: dict[str, Any]) -> None:
    with pytest.raises(TaskError):
        judged(HONEST, **secret)


def test_a_file_of_the_workspace_can_be_judged_with_its_neighbours() -> None:
    task = Task(id="t", prompt="", secret={"cases": CASES, "file": "main.py"})
    files = {"main.py": b"from helper import add\nprint(add(*map(int, input().split())))"}
    files["helper.py"] = b"def add(a, b): return a + b"
    assert ProgramVerifier().verify(task, Artifact(files=files)).outcome is Outcome.RESOLVED
    missing = ProgramVerifier().verify(task, Artifact(rejected={"main.py": "a link"}))
    assert (missing.outcome, missing.evidence["reason"]) == (Outcome.UNRESOLVED, "a link")
