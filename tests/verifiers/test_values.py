"""What a process tells of its values is read as data, and nothing else equals anything."""

from __future__ import annotations

import datetime
import enum
import json
import pathlib
import time
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from typing import Any

import pytest
from agent_envs.verifiers.swe.runs import Seen, seen
from agent_envs.verifiers.swe.values import Unreadable, is_readable, read, same, shown

from agent_envs.sandboxes.protocol import RunResult, Status


@pytest.mark.parametrize(
    ("told", "value"),
    [
        (["n"], None),
        (["B", True], True),
        (["i", "-12"], -12),
        (["f", "1.5"], 1.5),
        (["s", "ü\ud800"], "ü\ud800"),
        (["b", "\xff"], b"\xff"),
        (["l", [["i", "1"], ["t", [["s", "a"]]]]], [1, ("a",)]),
        (["S", [["i", "1"]]], {1}),
        (["D", [[["s", "k"], ["n"]]]], {"k": None}),
        (["x", "Fraction", "1/3"], Fraction(1, 3)),
    ],
)
def test_plain_values_are_read_as_they_were(told: list[object], value: object) -> None:
    assert read(json.loads(json.dumps(told))) == value


@pytest.mark.parametrize(
    "told",
    [
        *(None, 3, "i", [], ["?", "Everything"], ["i", 3], ["i", "x"], ["f", "1e"], ["S", [["l", []]]]),
        *(["x", "Decimal", "x"], ["D", [["i"]]], ["b", "\u20ac"], ["l", None], ["n", 1], {"i": "3"}),
        *(["o", [["a"]], "Thing"], ["o", 3, "Thing"], ["?", "Everything", True]),
    ],
)
def test_whatever_else_a_process_tells_is_equal_to_nothing(told: object) -> None:
    value = read(told)
    assert isinstance(value, Unreadable)
    assert value not in (told, None, 0, "", [])
    assert value != read(told)


def test_objects_of_one_type_and_with_the_same_fields_are_equal() -> None:
    told = ["o", [["cents", ["i", "5"]]], "Price"]
    assert read(told) == read(told)
    assert read([*told[:2], "Cost"]) != read(told)


def test_an_object_with_an_idea_of_its_own_of_equality_may_only_be_as_expected() -> None:
    """What its class takes for equal is not known here; but what a test expects names every field that counts."""
    own = ["p", [["cents", ["i", "5"]]], "Price"]
    assert read(own) != read(own)
    assert read(["o", *own[1:]], wanted=True) == read(own)


def thing(fields: dict[str, list[Any]], tag: str = "o") -> list[Any]:
    return [tag, [[name, told] for name, told in fields.items()], "Price"]


@pytest.mark.parametrize("form", ["o", "l", "D"])
def test_a_value_that_is_told_too_deep_cannot_be_read_and_breaks_nothing(form: str) -> None:
    told: list[Any] = ["i", "1"]
    for _ in range(300):
        told = {"o": thing({"a": told}), "l": ["l", [told]], "D": ["D", [[["i", "1"], told]]]}[form]
    value = read(told)
    assert shown(value)
    assert not is_readable(value)
    assert not same(value, read(told))


def test_what_fails_when_it_is_looked_at_is_named_by_its_type() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RecursionError

    assert shown(Broken()) == "a Broken"


PRICES = [thing({"cents": ["i", str(cents)]}) for cents in range(3)]


@pytest.mark.parametrize(
    ("wanted", "told", "equal"),
    [
        (["S", PRICES], ["S", PRICES[::-1]], True),
        (["S", PRICES], ["S", PRICES[1:]], False),
        (["S", PRICES[:2]], ["S", PRICES[1:]], False),
        (["S", PRICES[:1]], ["S", [thing({"cents": ["f", "0.0"], "note": ["n"]})]], True),
        (["S", PRICES[:1]], ["S", [thing({"cents": ["i", "0"]}, tag="p")]], True),
        (["S", PRICES[:1]], ["l", PRICES[:1]], False),
        (["D", [[PRICES[0], ["i", "1"]]]], ["D", [[PRICES[0], ["f", "1.0"]]]], True),
        (["D", [[PRICES[0], ["i", "1"]]]], ["D", [[PRICES[0], ["i", "2"]]]], False),
        (["D", [[PRICES[0], ["i", "1"]]]], ["S", PRICES[:1]], False),
        (["S", [["t", [PRICES[0], ["x", "Decimal", "0.5"]]]]], ["S", [["t", [PRICES[0], ["f", "0.5"]]]]], True),
    ],
)
def test_collections_of_objects_are_equal_in_whatever_order(wanted: list[Any], told: list[Any], *, equal: bool) -> None:
    assert same(read(wanted, wanted=True), read(told)) is equal


def test_large_collections_of_objects_are_compared_in_a_time_that_grows_with_their_size_only() -> None:
    members = [thing({"cents": ["i", str(number * (2**61 - 1))]}) for number in range(20_000)]
    began = time.monotonic()
    assert same(read(["S", members]), read(["S", members[::-1]]))
    assert time.monotonic() - began < 20


def test_members_that_all_have_the_same_hash_cannot_be_read() -> None:
    numbers: list[list[Any]] = [["i", str(number * (2**61 - 1))] for number in range(1, 5_000)]
    for members in (numbers, [["t", [number, ["n"]]] for number in numbers]):
        assert isinstance(read(["S", members]), Unreadable)
        assert isinstance(read(["D", [[member, ["n"]] for member in members]]), Unreadable)
    assert read(["S", [["i", str(number)] for number in range(-5_000, 5_000)]]) == set(range(-5_000, 5_000))


READY = ["o", [["is", ["s", "READY"]]], "State", True]
READY_TEXT = ["e", ["s", "ready"], "READY", "State"]


def test_a_member_that_is_a_text_too_is_equal_to_both() -> None:
    told = read(READY_TEXT)
    assert same(told, "ready")
    assert same(told, read(READY, wanted=True))
    assert same(told, read(READY_TEXT, wanted=True))
    assert not same(told, read([*READY[:2], "Status"], wanted=True))
    assert not same(told, read(["e", ["s", "done"], "DONE", "State"]))
    assert same(read(["S", [READY_TEXT]]), {"ready"})
    assert same(read(["D", [[READY_TEXT, ["n"]]]]), read(["D", [[READY, ["n"]]]], wanted=True))
    assert same(read(["e", ["i", "3"], "HIGH", "Level"]), 3)


def of_run(*records: bytes) -> Seen:
    return seen(RunResult(status=Status.OK, stdout=b"\n".join(records)))


FORMS = {
    "numbers": b'["i","1"],',
    "things": b'["o",[["a",["i","1"]]],"K"],',
    "what cannot be told": b"[],",
    "no lists": b'{"":0},',
}


@pytest.mark.parametrize("form", FORMS)
def test_what_a_run_records_is_read_up_to_a_size(form: str) -> None:
    """Thirty megabytes, in one record or in many."""
    most, part = 30 << 20, FORMS[form]
    head, tail = b'{"sealed":"0","test":"x","told":[["S",[', b"null]]]}"
    began = time.monotonic()
    assert of_run(head + part * (most // len(part)) + tail).reports == {}
    many = head + part * 2_000 + tail
    assert 0 < len(of_run(*[many] * (most // len(many))).reports["x"]) < 1_000
    assert time.monotonic() - began < 60


def test_many_records_are_read_up_to_a_number() -> None:
    record = b'{"test":"x","when":"call","outcome":"failed","why":' + b"[" * 900 + b"1" + b"]" * 900 + b"}"
    began = time.monotonic()
    assert of_run(record).why == {}
    assert of_run(b"{}" + b"\n" * (30 << 20), b'{"end":0}').ended
    assert not of_run(*[b"{}"] * 5_000_000, b'{"end":0}').ended
    assert time.monotonic() - began < 60


class Day(datetime.date):
    pass


class Moment(datetime.datetime):
    pass


class Span(datetime.timedelta):
    pass


class State(enum.StrEnum):
    READY = "ready"


class Level(enum.IntEnum):
    HIGH = 3


class Plain(enum.Enum):
    READY = "ready"


class Meta(type):
    pass


class Private:
    def __init__(self, cents: object) -> None:
        self._cents = cents


@pytest.fixture(scope="module")
def runner() -> dict[str, Any]:
    source = files("agent_envs.verifiers.swe").joinpath("guest_pytest.py").read_text("utf-8")
    assert source.endswith("\nmain()\n")
    names: dict[str, Any] = {"__name__": "guest_pytest"}
    exec(source.removesuffix("main()\n"), names)
    return names


NOON = datetime.datetime(2024, 1, 2, 12, tzinfo=datetime.UTC)
AN_HOUR_EAST = datetime.timezone(datetime.timedelta(hours=1))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Day(2024, 1, 2), datetime.date(2024, 1, 2)),
        (NOON, Moment(2024, 1, 2, 13, tzinfo=AN_HOUR_EAST)),
        (NOON.replace(tzinfo=None), Moment(2024, 1, 2, 12)),
        (Span(days=1, microseconds=3), datetime.timedelta(days=1, microseconds=3)),
        (pathlib.PurePosixPath("a/b"), pathlib.Path("a/b")),
        (State.READY, "ready"),
        (State.READY, State.READY),
        (Level.HIGH, 3),
        ([Level.HIGH, 4], [3, Decimal(4)]),
        (Plain.READY, Plain.READY),
        (Meta("Kind", (), {}), type("Kind", (), {})),
        ({State.READY: 1}, {"ready": 1}),
    ],
)
def test_what_is_equal_to_what_is_expected_is_told_as_such(runner: dict[str, Any], one: object, other: object) -> None:
    for told, wanted in ((one, other), (other, one)):
        assert same(read(runner["_Teller"]().of(told)), read(runner["_Teller"](wanted=True).of(wanted), wanted=True))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Day(2024, 1, 2), NOON),
        (Plain.READY, "ready"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (pathlib.PurePosixPath("a/b"), pathlib.PureWindowsPath("a/b")),
        (Level.HIGH, 4),
    ],
)
def test_what_is_not_equal_is_told_as_such(runner: dict[str, Any], one: object, other: object) -> None:
    told, wanted = runner["_Teller"]().of(one), runner["_Teller"](wanted=True).of(other)
    assert not same(read(told), read(wanted, wanted=True))


def test_an_object_with_private_fields_only_is_told_by_these_where_they_are_few(runner: dict[str, Any]) -> None:
    teller = runner["_Teller"]()
    assert teller.of(Private(5)) == ["p", [["_cents", ["i", "5"]]], "Private", True]
    assert teller.loose
    assert teller.of(Private([0] * 2_000)) == ["?", "Private", True]
