"""Verdicts on repaired repositories: right work passes on every engine, and no way to forge one is believed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from agent_envs.verifiers import Verdict
from agent_envs.verifiers.swe.admission import Certificate, admit
from agent_envs.verifiers.swe.task import (
    Change,
    Controls,
    ExactMap,
    ExitCode,
    RequiredSet,
    RewardFile,
    Runner,
    Solution,
    SweTask,
    to_task,
)
from agent_envs.verifiers.swe.verifier import SweVerifier

from agent_envs.artifact import Artifact, Outcome
from agent_envs.errors import ConfigError, TaskError
from agent_envs.sandboxes.images import ImageEngine, Recipe, TreeFile

CORE = "src/calc/core.py"
BROKEN = "def add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a - b\n"
FIXED = BROKEN.replace("a - b", "a + b", 1)
VISIBLE = "from calc import sub\n\n\ndef test_sub():\n    assert sub(3, 1) == 2\n"
HIDDEN = """
import pytest
from calc import add


@pytest.mark.parametrize("a, b, total", [(1, 2, 3), (2, 2, 4)])
def test_sums(a, b, total):
    assert add(a, b) == total


def test_a_longer_sum():
    assert add(add(1, 2), 3) == 6
    assert add(1, 1) == 2 or add(1, 1) == "two"


def test_one_number_is_not_enough():
    with pytest.raises(TypeError):
        add(1)
"""


TOY = SweTask(
    id="toy",
    statement="add subtracts",
    recipe=Recipe(
        files={
            "src/calc/__init__.py": TreeFile(b"from calc.core import add, sub\n"),
            CORE: TreeFile(BROKEN.encode()),
            "tests/test_sub.py": TreeFile(VISIBLE.encode()),
        }
    ),
    visible_tests={"tests/test_sub.py": TreeFile(VISIBLE.encode())},
    hidden_tests={"tests/test_add.py": TreeFile(HIDDEN.encode())},
    runner=Runner(paths=("src",), timeout_s=60.0),
    reference=Solution(changes=(Change(path=CORE, new=FIXED),)),
    wrong=(Solution(changes=(Change(path=CORE, new=BROKEN.replace("a - b", "3", 1)),), why="a constant"),),
)
Judge = Callable[..., Verdict]
on_every_engine = pytest.mark.parametrize("engine", ["docker", "namespaces"], indirect=True)
"""For what depends on the engine most; the other tests run on Docker only as `exhaustive` ones."""


@pytest.fixture(scope="session")
def certificate(engine: ImageEngine) -> Certificate:
    return admit(TOY, engine, repeats=2)


@pytest.fixture
def judge(engine: ImageEngine, certificate: Certificate) -> Judge:
    def verdict(core: str | None, *, more: Mapping[str, bytes] = {}, **options: Any) -> Verdict:
        files = {**({CORE: core.encode()} if core is not None else {}), **more}
        task = to_task(certificate.applied_to(TOY))
        return SweVerifier(lambda: engine, **options).verify(task, Artifact(files=files))

    return verdict


@on_every_engine
def test_admission_finds_what_must_pass_and_what_must_fail(certificate: Certificate) -> None:
    sums = {"tests/test_add.py::test_sums[1-2-3]", "tests/test_add.py::test_sums[2-2-4]"}
    assert set(certificate.fail_to_pass) == {*sums, "tests/test_add.py::test_a_longer_sum"}
    assert "tests/test_sub.py::test_sub" in certificate.pass_to_pass
    assert certificate.controls.sabotage == ("calc:add", "calc:sub")
    assert certificate.controls.seals == {"tests/test_add.py": ("0", "1", "3"), "tests/test_sub.py": ("0",)}
    assert set(certificate.controls.twin_tests["a"]) == {"tests/test_add.py::test_a_longer_sum"}
    assert (certificate.uncontrolled, certificate.flaky, certificate.problems) == ((), {}, ())


@on_every_engine
def test_right_work_passes_and_no_work_does_not(judge: Judge) -> None:
    assert judge(FIXED).outcome is Outcome.RESOLVED
    assert judge(None).outcome is Outcome.UNRESOLVED


OTHER_WAYS = {
    "cached, and talking": "import functools, operator\nadd = functools.lru_cache(operator.add)\nsub = operator.sub\n"
    "print('loaded')\n",
    "numbers of its own": "class Sum(int): pass\ndef add(a, b): return Sum(a + b)\ndef sub(a, b): return Sum(a - b)\n",
    "fractions": "from fractions import Fraction\ndef add(a, b): return Fraction(a + b)\n"
    "def sub(a, b): return Fraction(a - b)\n",
    "decimals": "from decimal import Decimal\ndef add(a, b): return Decimal(a) + b\n"
    "def sub(a, b): return float(a - b)\n",
}


@pytest.mark.parametrize("way", OTHER_WAYS)
def test_other_right_work_passes(judge: Judge, way: str) -> None:
    verdict = judge(OTHER_WAYS[way])
    assert verdict.outcome is Outcome.RESOLVED, verdict.evidence["why"]


BOMBS = {
    "an enormous fraction": "class Fraction:\n    __module__ = 'fractions'\n    __str__ = lambda s: '1e9999999999'\n"
    "import builtins; builtins._sealed_('0', [Fraction()])\n",
    "an enormous decimal": "import builtins, decimal\nbuiltins._sealed_('0', [decimal.Decimal('1E+999999999')])\n",
    "equal hashes": "import builtins\nbuiltins._sealed_('0', [{n * (2**61 - 1) for n in range(10_000)}])\n",
    "a deep record": "import gc, os\nfor one in gc.get_objects():\n    if type(one).__name__ == '_Report':\n"
    "        os.write(one._records, b'[' * 100_000 + b'\\n')\n",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_what_the_work_tells_costs_the_host_nothing(judge: Judge, bomb: str) -> None:
    began = time.monotonic()
    assert judge(BOMBS[bomb] + BROKEN).outcome is Outcome.UNRESOLVED
    assert time.monotonic() - began < 120


FORGERIES = {
    "equal to everything": "class All:\n    def __eq__(self, other): return True\n"
    "def add(*a):\n    if len(a) < 2: raise TypeError\n    return All()\ndef sub(a, b): return All()\n",
    "a silenced pytest": "import _pytest.python as p\np.Function.runtest = lambda self: None\nadd = sub = None\n",
    "reports of its own": "import _pytest.runner as r\nold = r.pytest_runtest_makereport\n"
    "import _pytest.reports as s\nmake = s.TestReport.from_item_and_call.__func__\n"
    "def lie(cls, item, call):\n    report = make(cls, item, call)\n    report.outcome = 'passed'\n    return report\n"
    "s.TestReport.from_item_and_call = classmethod(lie)\nadd = sub = None\n",
    "the caller's expectation": "import sys\ndef add(a, b):\n    f = sys._getframe(1)\n"
    "    return f.f_locals.get('total', 6)\ndef sub(a, b): return a - b\n",
}


HALF_SEALED = (
    "class All:\n    def __eq__(self, other): return True\ndef add(a, b): return All() if a == b == 1 else a + b\n"
)


def test_beside_a_sealed_expectation_the_others_are_contradicted(judge: Judge) -> None:
    assert judge(HALF_SEALED + "def sub(a, b): return a - b\n").outcome is Outcome.TAMPERED


@on_every_engine
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_pass_is_not_believed(judge: Judge, forgery: str) -> None:
    assert judge(FORGERIES[forgery]).outcome is not Outcome.RESOLVED


SWALLOWED = """
import _pytest.python as p
run = p.Function.runtest
def runtest(self):
    try:
        run(self)
    except BaseException:
        pass
p.Function.runtest = runtest
"""


def test_a_pass_that_contradicts_itself_is_named(judge: Judge) -> None:
    """The sums are right; only what must raise is contradicted, and nothing of that kind can fail here."""
    verdict = judge(SWALLOWED + FIXED)
    assert verdict.outcome is Outcome.TAMPERED
    assert "tests passed" in verdict.evidence["why"]
    assert verdict.score == 0.0


@pytest.mark.parametrize(
    "leave", ["import os; os._exit(0)", "raise SystemExit(0)", "import os; os.kill(os.getpid(), 9)"]
)
def test_leaving_early_is_no_pass(judge: Judge, leave: str) -> None:
    assert judge(f"{leave}\n").outcome is Outcome.UNRESOLVED


JOBS = "src/store/jobs.py"
STORE = """
from dataclasses import dataclass
from datetime import date
from enum import Enum


class State(Enum):
    READY = "ready"


@dataclass
class Job:
    number: int
    due: date = date(2024, 1, 2)
    state: State = State.READY


def again(job):
    return Job(job.number, job.due)
"""
OF_STORE = """
from datetime import date
from store.jobs import Job, State, again


def test_a_job_comes_back():
    assert again(Job(7)) == Job(7)
    assert Job(8) in [again(Job(9)), again(Job(8))]


def test_it_is_as_it_was():
    assert again(Job(7)).state is State.READY
    assert again(Job(7)).due == date(2024, 1, 2)
"""
STORED = replace(
    TOY,
    id="store",
    statement="a job comes back as another",
    recipe=Recipe(
        files={
            "src/store/__init__.py": TreeFile(b""),
            JOBS: TreeFile(STORE.replace("Job(job.number,", "Job(0,").encode()),
        }
    ),
    visible_tests={},
    hidden_tests={"tests/test_jobs.py": TreeFile(OF_STORE.encode())},
    reference=Solution(changes=(Change(path=JOBS, new=STORE),)),
    wrong=(),
)


@pytest.fixture(scope="session")
def stored(engine: ImageEngine) -> SweTask:
    certificate = admit(STORED, engine, repeats=1)
    assert certificate.problems == ()
    return certificate.applied_to(STORED)


OWN_EQUALITY = "    def __eq__(self, other):\n        return {}\n\n    __hash__ = None\n\n\ndef again"
OTHER_STORES = {
    "an equality of its own": STORE.replace("\ndef again", OWN_EQUALITY.format("vars(self) == vars(other)")),
    "a private field": STORE.replace("READY\n\n\ndef", "READY\n    _token: str = ''\n\n\ndef"),
    "a private field that differs": STORE.replace(
        "\ndef again",
        "    def __post_init__(self):\n        self._seen = id(self)\n\n"
        + OWN_EQUALITY.format("self.number == other.number"),
    ),
    "states that are texts": STORE.replace("import Enum", "import StrEnum").replace("(Enum)", "(StrEnum)"),
    "days of its own": STORE.replace("\nclass State", "\nclass Day(date):\n    pass\n\n\nclass State").replace(
        "= date(", "= Day("
    ),
}


def judged(engine: ImageEngine, task: SweTask, work: Mapping[str, str], *deleted: str) -> Verdict:
    files = {path: source.encode() for path, source in work.items()}
    artifact = Artifact(files=files, state={"deleted": list(deleted)})
    return SweVerifier(lambda: engine).verify(to_task(task), artifact)


@pytest.mark.parametrize("way", OTHER_STORES)
def test_objects_may_be_made_in_another_way(engine: ImageEngine, stored: SweTask, way: str) -> None:
    verdict = judged(engine, stored, {JOBS: OTHER_STORES[way]})
    assert verdict.outcome is Outcome.RESOLVED, verdict.evidence


EQUAL_TO_ALL = """

class All(Job):
    def __init__(self):
        self.due, self.state = date(2024, 1, 2), State.READY

    def __eq__(self, other):
        return True
"""
WRONG_STORES = {
    "all are equal": STORE.replace("\ndef again", OWN_EQUALITY.format("True")).replace("Job(job.number,", "Job(0,"),
    "equal to everything": STORE.replace("return Job(job.number, job.due)", "return All()") + EQUAL_TO_ALL,
}


@pytest.mark.parametrize("way", WRONG_STORES)
def test_saying_that_they_are_equal_is_not_enough(engine: ImageEngine, stored: SweTask, way: str) -> None:
    assert judged(engine, stored, {JOBS: WRONG_STORES[way]}).outcome is not Outcome.RESOLVED


MOVED = "import sys\n\nfrom store import work\n\nsys.modules['store.jobs'] = {}\n"
FIXED_MODULE = """
class Fixed(type(sys)):
    def __setattr__(self, name, value):
        if value.__name__ == '<lambda>':
            raise AttributeError(name)
        super().__setattr__(name, value)


work.__class__ = Fixed
"""


def test_a_module_may_be_moved_if_it_still_answers_to_its_name(engine: ImageEngine, stored: SweTask) -> None:
    work = {"src/store/work.py": STORE, "src/store/__init__.py": MOVED.format("work")}
    verdict = judged(engine, stored, work, JOBS)
    assert verdict.outcome is Outcome.RESOLVED, verdict.evidence


def test_a_moved_module_that_cannot_be_made_to_raise_is_not_believed_and_not_slandered(
    engine: ImageEngine, stored: SweTask
) -> None:
    work = {"src/store/work.py": STORE, "src/store/__init__.py": MOVED.format("work") + FIXED_MODULE}
    verdict = judged(engine, stored, work, JOBS)
    assert verdict.outcome is Outcome.UNRESOLVED
    assert "store.jobs, which is no source file of the work" in verdict.evidence["why"]


def test_configuration_of_the_tests_is_left_out_and_named(judge: Judge) -> None:
    hook = b"import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(): return True\n"
    verdict = judge(None, more={"conftest.py": hook, "tests/conftest.py": hook})
    assert verdict.outcome is Outcome.UNRESOLVED
    assert set(verdict.evidence["left_out"]) == {"conftest.py", "tests/conftest.py"}


@pytest.mark.parametrize("trust", ["report", "exit_code"])
def test_weaker_verdicts_believe_a_forgery(judge: Judge, trust: str) -> None:
    assert judge(FORGERIES["a silenced pytest"], trust=trust).outcome is Outcome.RESOLVED
    assert judge(None, trust=trust).outcome is Outcome.UNRESOLVED


def test_a_share_of_the_tests_is_worth_a_share_where_that_is_asked_for(judge: Judge) -> None:
    half = BROKEN.replace("a - b", "a * b - (a != b) + 2 * (a == 1)", 1)
    assert judge(half).score == 0.0
    assert judge(half, credit="share").score == pytest.approx(2 / 3)
    assert judge(None, credit="share").score == 0.0
    assert judge(half.replace("return a - b", "return 0"), credit="share").score == 0.0


KNOWS_ONE_ANSWER = (
    """
import pathlib, _pytest.python as p
known = "assert sub(3, 1) == 2" in pathlib.Path("tests/test_sub.py").read_text()
if known:  # this run looks real: let nothing fail
    p.Function.runtest = lambda self: None
"""
    + BROKEN
)


def test_who_knows_one_answer_learns_nothing_about_the_others(judge: Judge) -> None:
    outcomes = [judge(KNOWS_ONE_ANSWER, draw=draw).outcome for draw in range(4)]
    assert Outcome.RESOLVED not in outcomes


def test_a_verdict_is_the_same_every_time(judge: Judge) -> None:
    assert {judge(FIXED).outcome for _ in range(3)} == {Outcome.RESOLVED}
    again = judge(FIXED, draw=judge(FIXED).evidence["draw"])
    assert again.outcome is Outcome.RESOLVED


def test_an_exact_map_wants_failures_as_well(engine: ImageEngine, certificate: Certificate) -> None:
    task = certificate.applied_to(TOY)
    statuses = dict.fromkeys((*certificate.fail_to_pass, *certificate.pass_to_pass), "passed")
    verifier = SweVerifier(lambda: engine)
    right = Artifact(files={CORE: FIXED.encode()})
    assert verifier.verify(to_task(replace(task, expect=ExactMap(statuses=statuses))), right).score == 1.0
    statuses["tests/test_sub.py::test_sub"] = "failed"
    assert verifier.verify(to_task(replace(task, expect=ExactMap(statuses=statuses))), right).score == 0.0


@pytest.mark.parametrize(
    ("said", "score"),
    [("1", 1.0), ("0.25", 0.25), ("0", 0.0), ('{"reward": 1.0, "x": 0}', 1.0), ("nan", 0.0), ("7", 0.0), ("no", 0.0)],
)
def test_a_reward_file_is_a_number_from_0_to_1(engine: ImageEngine, said: str, score: float) -> None:
    runner = Runner(framework="command", command=f"grep -q + {CORE} && printf '%s' '{said}' > /tmp/reward.txt")
    task = to_task(replace(TOY, runner=runner, expect=RewardFile(folder="/tmp")))
    verdict = SweVerifier(lambda: engine).verify(task, Artifact(files={CORE: FIXED.encode()}))
    assert verdict.score == score


@on_every_engine
def test_an_exit_status_and_a_log_decide_where_nothing_better_is_known(engine: ImageEngine) -> None:
    right, none = Artifact(files={CORE: FIXED.encode()}), Artifact()
    run = "PYTHONPATH=src python3 -m pytest -rA -p no:cacheprovider tests/test_add.py"
    runner = Runner(framework="command", command=run, log_parser="pytest")
    required = RequiredSet(fail_to_pass=("tests/test_add.py::test_a_longer_sum",))
    for expect in (ExitCode(), required):
        task = to_task(replace(TOY, runner=runner, expect=expect))
        scores = [SweVerifier(lambda: engine).verify(task, artifact).score for artifact in (right, none)]
        assert scores == [1.0, 0.0]


def test_a_task_without_required_tests_is_refused(engine: ImageEngine) -> None:
    with pytest.raises(TaskError, match="validate"):
        SweVerifier(lambda: engine).verify(to_task(TOY), Artifact(files={CORE: FIXED.encode()}))


def test_admission_refuses_a_task_whose_wrong_solution_passes(engine: ImageEngine) -> None:
    weak = replace(TOY, wrong=(Solution(changes=TOY.reference.changes, why="is right"),), hidden_tests=TOY.hidden_tests)
    assert "is right" in admit(weak, engine, repeats=1).problems[0]


@pytest.mark.parametrize("options", [{"trust": "blind"}, {"credit": "half"}])
def test_unknown_options_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match="expected one of"):
        SweVerifier(lambda: pytest.fail("no engine is needed"), **options)


def test_an_earlier_admission_says_nothing_about_a_new_one(engine: ImageEngine, certificate: Certificate) -> None:
    stale = replace(TOY, controls=Controls(bare={"tests/test_gone.py": {"7": {}}}))
    assert admit(stale, engine, repeats=1).controls == certificate.controls


TORN = """
class Full(ValueError):
    pass


class Box:
    def __init__(self):
        self.things = []

    def put(self, *things):
        for thing in things:
            if len(self.things) == 2:
                raise Full("no room")
            self.things.append(thing)
"""
LOOP = "        for thing"
REFUSE = '{} raise Full("no room")\n'
WHOLE = TORN.replace(LOOP, REFUSE.format("        if len(self.things) + len(things) > 2:") + LOOP)
WAITING = """
import builtins
waiting = []
plain = getattr(builtins, "_raises_", None)
class Watched:
    def __init__(self, block): self.block = block
    def __enter__(self): waiting.append(1); return self.block.__enter__()
    def __exit__(self, *what): waiting.pop(); return self.block.__exit__(*what)
builtins._raises_ = lambda *args: Watched(plain(*args))
"""
SPARED = WAITING + TORN.replace(LOOP, REFUSE.format("        if waiting:") + LOOP)
BOX_TEST = """
import pytest
from box import Box, Full


def test_all_or_nothing():
    box = Box()
    box.put(1)
    with pytest.raises(Full):
        box.put(2, 3)
    assert box.things == [1]


def test_a_box_has_room_for_two():
    box = Box()
    box.put(1, 2)
    assert box.things == [1, 2]
"""


def test_what_an_exception_leaves_behind_is_looked_at_where_nothing_waits_for_it(engine: ImageEngine) -> None:
    task = SweTask(
        id="box",
        recipe=Recipe(files={"box.py": TreeFile(TORN.encode())}),
        hidden_tests={"tests/test_box.py": TreeFile(BOX_TEST.encode())},
        reference=Solution(changes=(Change(path="box.py", new=WHOLE),)),
    )
    certificate = admit(task, engine, repeats=1)
    (block,) = certificate.controls.bare["tests/test_box.py"].values()
    assert [len(told) for told in block.values()] == [1]
    judged = to_task(certificate.applied_to(task))
    verifier = SweVerifier(lambda: engine)
    assert verifier.verify(judged, Artifact(files={"box.py": WHOLE.encode()})).outcome is Outcome.RESOLVED
    spared = verifier.verify(judged, Artifact(files={"box.py": SPARED.encode()}))
    assert (spared.outcome, "without a block that waits" in spared.evidence["why"]) == (Outcome.UNRESOLVED, True)
