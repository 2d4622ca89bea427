"""What grading a function by a dataset's asserts promises, for honest programs and for every known way to cheat."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from agent_envs.verifiers import ProxyVerifier

from agent_envs.artifact import Artifact, Outcome, Verdict
from agent_envs.errors import TaskError
from agent_envs.tasks import Task

CHECK = """
def check(candidate):
    assert candidate(2, 3) == 5
    assert candidate(-1, 1) == 0
    assert candidate(10, 20) == 30
"""


def judged(program: str, **secret: Any) -> Verdict:
    secret = {"entry_point": "add", "test": CHECK, "time_s": 60.0, "total_s": 300.0} | secret
    task = Task(id="t", prompt="", secret=secret)
    return ProxyVerifier().verify(task, Artifact(answer=program, submitted=True))


@pytest.mark.parametrize(
    "program",
    [
        "def add(a, b):\n    return a + b",
        "add = lambda a, b: sum((a, b))",
        "class Adder:\n    def __call__(self, a, b): return a + b\nadd = Adder()",
        "import operator\nfrom functools import partial\nadd = partial(operator.add)",
        "def add(a, b):\n    print('noise' * 1000)\n    return a + b\nif __name__ == '__main__': raise SystemExit(3)",
        "import os\ndef add(a, b):\n    if os.fork() == 0: return 7\n    return a + b",
        "def len(_): return 0\ndef repr(_): return 'x'\ndef add(a, b): return a + b",
        "```python\ndef add(a, b):\n    return a + b\n```",
    ],
)
def test_an_honest_program_passes_however_it_is_written(program: str) -> None:
    verdict = judged(program)
    assert (verdict.outcome, verdict.score) == (Outcome.RESOLVED, 1.0), verdict.evidence
    assert verdict.evidence["calls"] == 3


def test_a_wrong_answer_is_shown_with_the_assert_it_failed() -> None:
    verdict = judged("def add(a, b):\n    return a - b")
    assert verdict.outcome is Outcome.UNRESOLVED
    assert verdict.evidence["failed"] == "assert candidate(2, 3) == 5"
    assert verdict.evidence["last_call"] == "('add', (2, 3), {})"


CHEATS = {
    "always equal": "class E:\n    def __eq__(s, o): return True\n    __hash__ = None\ndef add(a, b): return E()",
    "int subclass": "class I(int):\n    def __eq__(s, o): return True\ndef add(a, b): return I(0)",
    "str subclass": "class S(str):\n    def __eq__(s, o): return True\ndef add(a, b): return S()",
    "float subclass": "class F(float):\n    def __eq__(s, o): return True\ndef add(a, b): return F(0)",
    "list holding one": "class E:\n    def __eq__(s, o): return True\ndef add(a, b): return [E()]",
    "metaclass posing as int": "class M(type):\n    def __eq__(s, o): return True\n    __hash__ = type.__hash__\n"
    "class I(metaclass=M):\n    def __eq__(s, o): return True\ndef add(a, b): return I()",
    "class renamed int": "class E:\n    def __eq__(s, o): return True\nE.__name__ = 'int'; E.__module__ = 'builtins'\n"
    "def add(a, b): return E()",
    "exits": "import os\ndef add(a, b): os._exit(0)",
    "exits while loading": "import os\nos._exit(0)",
    "raises SystemExit": "def add(a, b): raise SystemExit(0)",
    "stops the iteration": "def add(a, b): raise StopIteration",
    "returns nothing": "def add(a, b): return None",
    "returns nan": "def add(a, b): return float('nan')",
    "prints a pass": "def add(a, b):\n    print('PASS passed V 1'); return 0",
    "exit function": "import atexit\natexit.register(print, 'PASS')\ndef add(a, b): return 0",
    "walks frames": "import sys\ndef add(a, b):\n    f = sys._getframe()\n    while f:\n"
    "        for v in f.f_locals.values():\n            if type(v) is int and v not in (a, b): return v\n"
    "        f = f.f_back\n    return 0",
    "walks the heap": "import gc\ndef add(a, b):\n    for o in gc.get_objects():\n"
    "        if isinstance(o, str) and 'assert candidate' in o: return 5\n    return 0",
    "patches builtins": "import builtins\nbuiltins.isinstance = lambda *a: True\nbuiltins.all = lambda *a: True\n"
    "builtins.type = lambda *a: int\nbuiltins.AssertionError = KeyError\ndef add(a, b): return 0",
    "patches ast and modules": "import ast, sys\nast.literal_eval = lambda *a: 5\n"
    "for name in list(sys.modules): sys.modules[name] = None\ndef add(a, b): return 0",
    "closes every descriptor": "import os\nos.closerange(0, 1000)\ndef add(a, b): return 5",
    "writes garbage everywhere": "import os\ndef add(a, b):\n    for fd in range(3, 300):\n"
    "        try: os.write(fd, b'\\x05\\x00\\x00\\x00Vxxxx')\n        except OSError: pass\n    return 0",
    "hangs": "def add(a, b):\n    while True: pass",
    "sleeps": "import time\ndef add(a, b): time.sleep(1000)",
    "swallows the clock": "from signal import *\nsignal(SIGXCPU, SIG_IGN)\ndef add(a, b):\n    while True: pass",
    "floods": "def add(a, b):\n    while True: print('x' * 100000)",
    "eats memory": "def add(a, b):\n    x = []\n    while True: x.append(bytearray(1 << 24))",
    "answers with a giant": "def add(a, b): return 'x' * (1 << 27)",
    "answers with itself": "def add(a, b):\n    x = []; x.append(x); return x",
    "answers with a tower": "def add(a, b):\n    x = 1\n    for _ in range(60): x = [x, x]\n    return x",
    "answers with collisions": "def add(a, b): return {i * (2**61 - 1) for i in range(20000)}",
    "never ends loading": "while True: pass",
    "is not Python": "def add(a, b: return",
    "is deeply nested": "add = " + "(" * 5000 + ")" * 5000,
    "holds a NUL": "def add(a, b): return 5\x00",
    "defines nothing": "",
    "defines another name": "def plus(a, b): return a + b",
    "is a value": "add = 5",
}


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS)
def test_a_cheat_never_passes_and_is_never_our_fault(cheat: str) -> None:
    verdict = judged(cheat, time_s=1.0, total_s=8.0)
    assert verdict.outcome in (Outcome.UNRESOLVED, Outcome.TAMPERED), verdict.evidence
    assert verdict.score == 0.0
    assert verdict.evidence["why"]


STEAL = """
import gc, sys
def channel():
    frame = sys._getframe()
    while frame:
        if "send" in frame.f_locals and "frame" in frame.f_locals:
            return frame.f_locals
        frame = frame.f_back
"""


@pytest.mark.parametrize(
    "body",
    [
        "c['send'](c['frame'][:16] + b'Rl2:i5;N')",
        "c['send'](b'V' + b'd1:s7:outcomes6:passed')",
        "c['send'](bytes(16) + b'Rl2:i5;N')",
    ],
    ids=["a second answer", "a verdict", "an answer in advance"],
)
def test_an_answer_that_nobody_asked_for_is_tampering(body: str) -> None:
    verdict = judged(f"{STEAL}\ndef add(a, b):\n    c = channel()\n    {body}\n    return a + b")
    assert verdict.outcome is Outcome.TAMPERED, verdict.evidence
    assert verdict.score == 0.0


def test_a_thread_that_keeps_writing_to_the_channel_is_tampering() -> None:
    thread = (
        "threading.Thread(target=lambda: [c['send'](bytes(16) + b'Rl2:i5;N') for _ in range(99)], daemon=True).start()"
    )
    verdict = judged(f"import threading\n{STEAL}\ndef add(a, b):\n    c = channel()\n    {thread}\n    return a + b")
    assert verdict.outcome in (Outcome.TAMPERED, Outcome.UNRESOLVED), verdict.evidence


def test_asserts_of_a_list_run_in_order_and_are_counted() -> None:
    asserts = ["assert add(1, 1) == 2", "assert add(2, 2) == 4", "assert add(3, 3) == 7"]
    verdict = judged("def add(a, b): return a + b", test="", asserts=asserts)
    assert verdict.evidence["failed"] == "assert add(3, 3) == 7"
    assert verdict.parts == {"checks_passed": pytest.approx(2 / 3)}


def test_several_entry_points_and_helpers_of_the_dataset_work_together() -> None:
    verdict = judged(
        "def encode(s): return s[::-1]\ndef decode(s): return s[::-1]",
        entry_points=["encode", "decode"],
        prelude="def shout(s): return s.upper()",
        test="def test_round_trip():\n    assert decode(encode(shout('abc'))) == 'ABC'",
    )
    assert verdict.outcome is Outcome.RESOLVED, verdict.evidence


def test_a_reference_solution_answers_for_the_name_inside_the_test() -> None:
    secret = {
        "reference": "def add(a, b): return a + b",
        "test": "def check(candidate):\n    for n in range(9): assert candidate(n, n) == add(n, n)",
    }
    assert judged("def add(a, b): return 2 * a", **secret).outcome is Outcome.RESOLVED
    assert judged("def add(a, b): return None", **secret).outcome is Outcome.UNRESOLVED


def test_a_preamble_gives_the_program_what_its_prompt_gave() -> None:
    program = "def add(a: Optional[int], b: int) -> int: return twice(a) + b - a"
    preamble = "from typing import Optional\ndef twice(n): return 2 * n"
    assert judged(program, preamble=preamble).outcome is Outcome.RESOLVED


def test_exceptions_cross_as_the_nearest_builtin_one() -> None:
    program = "class Odd(ValueError): pass\ndef add(a, b):\n    if a % 2: raise Odd('odd', a)\n    return a + b"
    test = (
        "def check(candidate):\n    assert candidate(2, 1) == 3\n    try: candidate(3, 1)\n"
        "    except ValueError as e: assert e.args == ('odd', 3)\n    else: assert False"
    )
    assert judged(program, test=test).outcome is Outcome.RESOLVED
    assert judged("def add(a, b): return a + b", test=test).outcome is Outcome.UNRESOLVED


def test_dying_is_not_the_exception_that_a_check_waits_for() -> None:
    test = "def check(candidate):\n    try: candidate(1, 2)\n    except BaseException: pass\n    else: assert False"
    assert judged("import os\ndef add(a, b): os._exit(0)", test=test).outcome is Outcome.UNRESOLVED
    assert judged("def add(a, b): return object()", test=test).outcome is Outcome.UNRESOLVED


def test_a_program_cannot_end_a_loop_of_the_checks_silently() -> None:
    test = "def check(candidate):\n    assert all(map(lambda n: candidate(n, n) == 2 * n, range(5)))"
    assert judged("def add(a, b): return a + b", test=test).outcome is Outcome.RESOLVED
    assert judged("def add(a, b): raise StopIteration", test=test).outcome is Outcome.UNRESOLVED


def test_arguments_changed_in_place_are_changed_for_the_checks() -> None:
    test = (
        "def check(candidate):\n    x = [[3, 1], {'k': {1}}]; inner = x[0]\n    assert candidate(x, 0) is None\n"
        "    assert inner == [1, 3] and x == [[1, 3], {'k': {1, 2}, 'new': 0}]"
    )
    program = "def add(x, _):\n    x[0].sort(); x[1]['k'].add(2); x[1]['new'] = 0"
    assert judged(program, test=test).outcome is Outcome.RESOLVED, judged(program, test=test).evidence
    assert judged("def add(x, _): pass", test=test).outcome is Outcome.UNRESOLVED


def test_iterators_are_read_only_where_the_task_asks_for_it() -> None:
    test = "def check(candidate):\n    assert candidate(0, 3) == [0, 1, 2]"
    program = "def add(a, b): yield from range(a, b)"
    assert judged(program, test=test, materialise=10).outcome is Outcome.RESOLVED
    assert "generator" in judged(program, test=test).evidence["why"]
    endless = judged("import itertools\ndef add(a, b): return itertools.count()", test=test, materialise=10)
    assert "more than 10 items" in endless.evidence["why"]


@pytest.mark.parametrize(
    "secret",
    [
        {"test": ""},
        {"test": "", "asserts": []},
        {"entry_point": ""},
        {"test": "def check(candidate): pass"},
        {"test": "def check(candidate): assert not []"},
        {"test": "def helper(candidate): pass"},
        {"test": "def check(candidate) assert"},
        {"test": "def check(candidate): assert candidate(lambda: 1, 2)"},
        {"test": "def check(candidate): assert candidate(1, 2) == unknown_name"},
        {"test": "", "asserts": ["assert True"]},
    ],
)
def test_a_task_that_cannot_fail_or_cannot_run_is_the_authors_error(secret: dict[str, Any]) -> None:
    with pytest.raises(TaskError):
        judged("def add(a, b): return a + b", **secret)


def test_nothing_submitted_is_unresolved() -> None:
    task = Task(id="t", prompt="", secret={"entry_point": "add", "test": CHECK})
    verdict = ProxyVerifier().verify(task, Artifact())
    assert (verdict.outcome, verdict.evidence["why"]) == (Outcome.UNRESOLVED, "nothing was submitted")


def test_a_file_of_the_workspace_can_be_judged_with_its_neighbours() -> None:
    task = Task(id="t", prompt="", secret={"entry_point": "add", "test": CHECK, "file": "main.py"})
    files = {"main.py": b"from helper import plus as add", "helper.py": b"def plus(a, b): return a + b"}
    assert ProxyVerifier().verify(task, Artifact(files=files)).outcome is Outcome.RESOLVED
    assert ProxyVerifier().verify(task, Artifact()).outcome is Outcome.UNRESOLVED


def test_a_forged_answer_that_the_checker_cannot_digest_is_the_programs_fault() -> None:
    """Values that all hash alike make a set slow to build; nobody but the program chose to send them."""
    bomb = "b'Rl2:S60000:' + b''.join(b'i%x;' % (n * (2**61 - 1)) for n in range(60000)) + b'N'"
    body = f"c = channel()\n    c['send'](c['frame'][:16] + {bomb})\n    import time; time.sleep(99)"
    verdict = judged(
        f"{STEAL}\ndef add(a, b):\n    if a == 2: return 5\n    {body}", test=CHECK, time_s=5.0, total_s=2.0
    )
    assert verdict.outcome is Outcome.UNRESOLVED
    assert verdict.evidence["why"] == "the checks did not end on the program's answer", verdict.evidence


def test_evidence_is_json_and_bounded() -> None:
    verdict = judged("def add(a, b): return 'x' * 1_000_000")
    assert len(msgspec.json.encode(verdict.evidence)) < 5000
