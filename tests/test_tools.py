"""Turning functions into tools, and what happens to good, bad and hostile arguments."""

from __future__ import annotations

import enum
import pickle
import time
import timeit
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_envs.errors import ConfigError, ToolDefinitionError
from agent_envs.tools import BadArguments, Tool, Toolbox, ToolCall, tool


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Box(TypedDict):
    low: float
    high: float


class Shell:
    @tool(code="code")
    def run(self, code: str, seconds: Annotated[int, msgspec.Meta(ge=1, le=60)] = 5) -> str:
        """Run a program
        and wait for it.

        It may take a while.

        Args:
            code: The program text,
                as it stands.
            seconds (int): How long to wait.
        """
        return f"{code} {seconds}"

    @tool(name="submit")
    def hand_in(self, answer: str) -> str:
        """Hand in the answer."""
        return answer


class Studio(Shell):
    @tool
    def paint(
        self,
        colour: Colour,
        at: Point,
        box: Box | None = None,
        style: Literal["thin", "thick"] = "thin",
        tags: list[str] = ["new"],  # noqa: B006 - the test is that calls do not share it
    ) -> str:
        """Paint."""
        return ""


SHELL = Toolbox(Shell)
STUDIO = Toolbox(Studio)


def test_a_schema_follows_from_signature_and_docstring() -> None:
    assert SHELL["run"].schema() == {
        "type": "function",
        "function": {
            "name": "run",
            "description": "Run a program and wait for it.",
            "parameters": {
                "type": "object",
                "properties": {
                    "code": {"type": "string", "description": "The program text, as it stands."},
                    "seconds": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 60,
                        "default": 5,
                        "description": "How long to wait.",
                    },
                },
                "required": ["code"],
                "additionalProperties": False,
            },
        },
    }


def test_schemas_are_fresh_each_time() -> None:
    SHELL.schemas()[0]["function"]["name"] = "changed"
    SHELL["run"].parameters["properties"].clear()
    assert SHELL["run"].schema()["function"]["name"] == "run"
    assert "code" in SHELL["run"].parameters["properties"]


def test_tools_stand_in_definition_order_base_classes_first() -> None:
    assert STUDIO.names == ("run", "submit", "paint")
    assert [t.name for t in STUDIO] == list(STUDIO.names)
    assert len(STUDIO) == 3
    assert STUDIO.code_tool == STUDIO["run"]


def test_a_validated_call_gives_the_function_what_its_annotations_say() -> None:
    paint = STUDIO["paint"]
    got = paint.validate({"colour": "red", "at": {"x": 3}, "box": {"low": 0, "high": 1.5}})
    assert got == {
        "colour": Colour.RED,
        "at": Point(3),
        "box": {"low": 0.0, "high": 1.5},
        "style": "thin",
        "tags": ["new"],
    }
    got["tags"].append("old")
    assert paint.validate({"colour": "red", "at": {"x": 3}})["tags"] == ["new"]
    assert SHELL["run"].call(Shell(), SHELL["run"].validate({"code": "x"})) == "x 5"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            {"cod": "x"},
            'unknown argument "cod" (did you mean `code`?); missing argument `code` (`run` takes code: string',
        ),
        ({"code": 1}, "argument `code`: expected str, got integer 1"),
        ({"code": "x", "seconds": "3"}, 'argument `seconds`: expected int, got string "3"'),
        ({"code": "x", "seconds": 61}, "argument `seconds`: expected int <= 60, got integer 61"),
        ({"code": "x", "seconds": True}, "argument `seconds`: expected int, got boolean true"),
        ({"code": None}, "argument `code`: expected str, got null"),
        ({"code": "a\ud800"}, 'argument "code": holds a lone surrogate (U+D800) at character 1'),
        ({"code": float("nan")}, 'argument "code": NaN and infinity are not JSON'),
        ({"code": 10**5000}, 'argument "code": the integer does not fit 64 bits'),
        ({"code": b"x"}, 'argument "code": bytes is not JSON'),
        ({3: "x"}, "argument names are strings, got integer"),
        ([], "expected an object, got array"),
    ],
)
def test_an_error_names_the_argument_what_was_expected_and_what_came(arguments: Any, says: str) -> None:
    with pytest.raises(BadArguments) as caught:
        SHELL["run"].validate(arguments)
    assert says in str(caught.value)


def test_an_error_inside_an_argument_has_a_path() -> None:
    with pytest.raises(BadArguments, match=r"argument `at\.x`: expected int, got str"):
        STUDIO["paint"].validate({"colour": "red", "at": {"x": "3"}})


class Trap:
    """Everything it can be asked raises."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError

    __eq__ = __hash__ = None  # type: ignore[assignment]


def _deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def _self_containing() -> list[Any]:
    value: list[Any] = [1]
    value += [value] * 1000
    return value


@tool
def anything(value: Any, more: str = "") -> str:
    """Take whatever comes."""
    return ""


def test_hostile_values_are_bad_arguments_and_nothing_else() -> None:
    for value in (Trap(), _deep(100_000), _self_containing(), {"a": Trap()}, {1: 2}, [object], -(2**63) - 1):
        with pytest.raises(BadArguments):
            Tool(anything).validate({"value": value})


def test_ten_megabytes_of_text_are_an_argument_like_any_other() -> None:
    text = "é" * 10_000_000
    assert Tool(anything).validate({"value": text})["value"] == text


@given(
    st.dictionaries(
        st.text() | st.integers(),
        st.recursive(st.none() | st.floats() | st.text(st.characters()) | st.integers(), st.lists),
    )
)
def test_no_json_like_arguments_raise_anything_but_bad_arguments(arguments: dict[Any, Any]) -> None:
    for each in STUDIO:
        try:
            each.validate(arguments)
        except BadArguments as wrong:
            str(wrong).encode()


def test_texts_become_numbers_only_where_the_format_has_nothing_but_text() -> None:
    run = SHELL["run"]
    assert run.validate({"code": "3", "seconds": "3"}, from_text=True) == {"code": "3", "seconds": 3}
    with pytest.raises(BadArguments, match="expected int, got string"):
        run.validate({"code": "3", "seconds": "3"})
    with pytest.raises(BadArguments, match="expected int, got string"):
        run.validate({"code": "3", "seconds": "three"}, from_text=True)
    assert STUDIO["paint"].read_texts({"at": '{"x": 1}', "box": "null"}) == {"at": {"x": 1}, "box": None}


def test_validation_of_a_simple_call_costs_microseconds() -> None:
    run, arguments = SHELL["run"], {"code": "print(1)"}
    best = min(timeit.repeat(lambda: run.validate(arguments), timer=time.thread_time, number=1000, repeat=20)) / 1000
    assert best < 20e-6


def no_docstring(x: int) -> None: ...
def no_annotation(x) -> None:  # type: ignore[no-untyped-def]
    """Do."""


def star(*x: int) -> None:
    """Do."""


def double_star(**x: int) -> None:
    """Do."""


def positional(x: int, /) -> None:
    """Do."""


def stranger(x: object) -> None:
    """Do."""


def moment(x: list[datetime]) -> None:
    """Do."""


def keys(x: dict[int, str]) -> None:
    """Do."""


def patterned(x: Annotated[str, msgspec.Meta(pattern="^a")]) -> None:
    """Do."""


def default(x: int = "a") -> None:  # type: ignore[assignment]
    """Do."""


async def asynchronous(x: int) -> None:
    """Do."""


def unresolved(x: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Do."""


def drifted(x: int) -> None:
    """Do.

    Args:
        y: Gone.
    """


@tool(code="text")
def no_such_code(x: str) -> None:
    """Do."""


@tool(code="x")
def code_needs_more(x: str, y: int) -> None:
    """Do."""


@tool(name="two words")
def named(x: str) -> None:
    """Do."""


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (no_docstring, "no docstring"),
        (no_annotation, r"`x` has no annotation; add one"),
        (star, r"\*x has no schema"),
        (double_star, r"\*\*x has no schema"),
        (positional, "positional-only"),
        (stranger, "cannot be read from JSON .*; use str"),
        (moment, "DateTimeType, which is not plain JSON"),
        (keys, "DictType, which is not plain JSON"),
        (patterned, "StrType, which is not plain JSON"),
        (default, "the default of `x` is 'a', which is no int"),
        (asynchronous, "async"),
        (unresolved, "importable at run time"),
        (drifted, "describes `y`, which is no parameter"),
        (no_such_code, "names no parameter of type str"),
        (code_needs_more, "leaves y unset"),
        (named, "a tool name is 1 to 64"),
        (print, "a tool is a function or method"),
    ],
)
def test_a_function_that_cannot_be_shown_to_an_agent_says_what_it_lacks(function: Any, says: str) -> None:
    with pytest.raises(ToolDefinitionError, match=says):
        Toolbox(function)


def test_hiding_a_tool_is_either_said_or_an_error() -> None:
    class Hides(Shell):
        def run(self, code: str, seconds: int = 5) -> str:
            return code

    class Without(Shell):
        run = None  # type: ignore[assignment]

    with pytest.raises(ToolDefinitionError, match="mark it with @tool"):
        Toolbox(Hides)
    assert Toolbox(Without).names == ("submit",)


@pytest.mark.parametrize("sources", [(), (object,), (Shell, Shell)])
def test_a_toolbox_has_tools_with_names_of_their_own(sources: Any) -> None:
    with pytest.raises(ToolDefinitionError):
        Toolbox(*sources)


def test_a_subset_keeps_the_given_order_and_suggests_a_name() -> None:
    assert STUDIO.subset(["paint", "run"]).names == ("paint", "run")
    with pytest.raises(ConfigError, match="did you mean `paint`"):
        STUDIO.subset(["pain"])


def test_a_toolbox_travels_and_compares_by_schemas() -> None:
    assert pickle.loads(pickle.dumps(STUDIO)) == STUDIO
    assert STUDIO != SHELL
    assert STUDIO.subset(["run", "submit"]) == SHELL
    assert hash(STUDIO.subset(["run", "submit"])) == hash(SHELL)


def test_equal_calls_have_one_json_text() -> None:
    one, other = ToolCall("f", {"a": 1, "b": "é"}), ToolCall("f", {"b": "é", "a": 1})
    assert one.to_json() == other.to_json() == '{"name":"f","arguments":{"a":1,"b":"é"}}'


def test_a_call_survives_the_openai_api() -> None:
    call = ToolCall("f", {"a": [1, "é"]}, id="call_7")
    assert ToolCall.from_openai(call.to_openai()) == call
    for message in (
        {},
        {"tool_calls": []},
        {"tool_calls": [3]},
        {"tool_calls": [{"function": {"name": "f", "arguments": "["}}]},
    ):
        with pytest.raises(BadArguments):
            ToolCall.from_openai(message)
