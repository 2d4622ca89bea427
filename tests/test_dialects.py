"""Reading and writing tool calls: every dialect, its repairs, its errors, and its behaviour on hostile text."""

from __future__ import annotations

import time
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_envs.dialects import DIALECTS, Parsed, Repair, get_dialect, parse_mapping, parse_openai, too_long
from agent_envs.errors import ConfigError
from agent_envs.tools import Toolbox, ToolCall, tool


class Desk:
    """A session with one tool of each kind."""

    @tool(code="code")
    def run(self, code: str, seconds: float = 1.0) -> str:
        """Run a program.

        Args:
            code: The program.
        """
        return code

    @tool
    def edit(self, path: str, old: str, new: str, count: int = 1) -> str:
        """Replace text in a file."""
        return path

    @tool
    def mix(
        self,
        mode: Literal["fast", "slow", 3],
        names: list[str],
        limits: dict[str, int | None] = {},  # noqa: B006 - the default is copied
        note: str | int | None = None,
        anything: Any = None,
        sure: bool = False,
    ) -> str:
        """Take every kind of argument."""
        return mode

    @tool
    def look(self) -> str:
        """Look around."""
        return ""

    @tool
    def submit(self, answer: str) -> str:
        """Hand in the answer."""
        return answer


BOX = Toolbox(Desk)
NO_CODE = BOX.subset(["edit", "look"])
AWKWARD = [
    "</code>",
    "</answer>",
    "</arg>",
    "</tool>",
    "</tool_call>",
    "<think>",
    "</think>",
    "```",
    "````\n",
    "```python\n",
    "\nAction: run\n",
    "Action Input: {}",
    "Observation:",
    '"',
    "'",
    "\\",
    "\n",
    "\r\n",
    "\t",
    "{",
    "}",
    '{"name": "x"',
    "<tool_call>",
    '<tool name="run">',
    '<arg name="a">',
    "<code>",
    "null",
    "42",
    "true",
    "[1]",
    '"q"',
    "\u2028",
    "é🙂",
    "\x00",
    " ",
    "",
    "None",
]
texts = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(AWKWARD), max_size=5).map("".join))
numbers = st.integers(-(2**63), 2**64 - 1)
floats = st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | floats | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
calls = st.one_of(
    st.builds(lambda code: ToolCall("run", {"code": code}), texts),
    st.builds(lambda code, s: ToolCall("run", {"code": code, "seconds": s}), texts, floats),
    st.builds(lambda answer: ToolCall("submit", {"answer": answer}), texts),
    st.builds(
        lambda a, b, c, n: ToolCall("edit", {"path": a, "old": b, "new": c, "count": n}), texts, texts, texts, numbers
    ),
    st.just(ToolCall("look", {})),
    st.fixed_dictionaries(
        {"mode": st.sampled_from(["fast", "slow", 3]), "names": st.lists(texts, max_size=3)},
        optional={
            "limits": st.dictionaries(texts, numbers | st.none(), max_size=3),
            "note": texts | numbers | st.none(),
            "anything": values,
            "sure": st.booleans(),
        },
    ).map(lambda arguments: ToolCall("mix", arguments)),
)
thoughts = texts.map(str.strip)
THOROUGH = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def parse(dialect: str, text: str, box: Toolbox = BOX) -> Parsed:
    return get_dialect(dialect).parse(text, box)


@pytest.mark.parametrize("with_toolbox", [True, False])
@pytest.mark.parametrize("name", DIALECTS)
@THOROUGH
@given(call=calls, thought=thoughts)
def test_what_is_rendered_is_read_back_or_refused(name: str, with_toolbox: bool, call: ToolCall, thought: str) -> None:
    dialect = get_dialect(name)
    try:
        text = dialect.render(call, thought, toolbox=BOX if with_toolbox else None)
    except ConfigError:
        assert name in ("code", "react") or "</think>" in thought
        return
    parsed = dialect.parse(text, BOX)
    assert (parsed.call, parsed.thought, parsed.repairs) == (call, thought, ()), text
    assert parsed.well_formed


@pytest.mark.parametrize("name", sorted(set(DIALECTS) - {"auto"}))
@THOROUGH
@given(call=calls, thought=thoughts)
def test_auto_reads_what_every_other_dialect_writes(name: str, call: ToolCall, thought: str) -> None:
    try:
        text = get_dialect(name).render(call, thought, toolbox=BOX)
    except ConfigError:
        return
    parsed = parse("auto", text)
    if name != "react" or not any(sign in thought for sign in ("<", "`", "{", "Action")):
        assert (parsed.call, parsed.thought) == (call, thought), text


@pytest.mark.parametrize("name", DIALECTS)
@settings(max_examples=300, deadline=None)
@given(
    text=st.one_of(st.text(st.characters(), max_size=200), st.lists(st.sampled_from([*AWKWARD, "\ud800"])).map("".join))
)
def test_no_text_makes_a_parser_raise(name: str, text: str) -> None:
    parsed = parse(name, text)
    assert (parsed.call is None) == (parsed.error != "")
    assert parsed.error in ("", "malformed", "unknown_tool", "bad_arguments")
    assert set(parsed.repairs) <= {repair.value for repair in Repair}
    if parsed.error:
        assert parsed.message.startswith(f"error: {parsed.error}: ")
        assert "expected" in parsed.message
        assert "tools: run, edit, mix, look, submit" in parsed.message


BAIT = [
    "<",
    "{",
    "`",
    "```\n",
    "\n",
    " ",
    '"',
    '{"',
    '{"name":',
    '{"name": "',
    '"\\',
    "[",
    "<think>",
    "</think>",
    "<tool_call>",
    "<tool_call>{",
    '<tool name="run">',
    '<arg name="a">',
    '<tool name="run"><arg name="code">',
    "<code>",
    "<answer>",
    "Action: run\n",
    "Action:",
    "Action Input:",
    "{'",
    "{'name': '",
    ",",
    "{,",
    '{"name": [',
    "{\n",
    "-",
    "<function=",
    "\ud800",
    "\x00",
]


@pytest.mark.parametrize("name", DIALECTS)
def test_repetitive_text_is_read_in_linear_time(name: str) -> None:
    slow = []
    for bait in BAIT:
        for text in (bait * (100_000 // len(bait)), '{"name": "run", ' + bait * (100_000 // len(bait))):
            best = min(_seconds(name, text) for _ in range(2))
            if best > 0.15:
                slow.append((bait, best))
    assert not slow


def _seconds(name: str, text: str) -> float:
    began = time.thread_time()
    parse(name, text)
    return time.thread_time() - began


@pytest.mark.parametrize("name", DIALECTS)
def test_a_megabyte_and_bottomless_nesting_are_only_malformed(name: str) -> None:
    for text in (
        "x" * 1_000_000,
        '{"name":' * 100_000,
        '{"name": "run", "arguments": ' + "[" * 100_000,
        "\ud800" * 1_000_000,
    ):
        assert parse(name, text).error == "malformed"


@pytest.mark.parametrize("name", DIALECTS)
def test_the_instructions_show_an_example_that_the_parser_reads(name: str) -> None:
    instructions = get_dialect(name).instructions(BOX)
    example = get_dialect(name).render(
        ToolCall("run", {"code": "print(6 * 7)"}), "What I want to know and how I find out.", toolbox=BOX
    )
    assert example in instructions
    assert parse(name, example).well_formed
    assert "Run a program." in instructions


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize(
    ("text", "says"), [("", "the message is empty"), ("Let me think about it.", "only text and holds no tool call")]
)
def test_saying_nothing_is_told_apart_from_a_broken_call(name: str, text: str, says: str) -> None:
    parsed = parse(name, text)
    assert parsed.error == "malformed"
    assert says in parsed.message
    assert "nothing was done" in parsed.message


RUN = ToolCall("run", {"code": "print('a')"})
GOOD = """{"name": "run", "arguments": {"code": "print('a')"}}"""
MIXED = "<code>x</code>\n```python\ny\n```"
LOOK = '{"name": "look", "arguments": {}}'
QWEN = "<tool_call>\n<function=run>\n<parameter=code>\nprint('a')\n</parameter>\n</function>\n</tool_call>"
REPAIRED = [
    ("json", '{"name": "run", "arguments": {"code": "print(\'a\')"},}', ["trailing_comma"]),
    ("json", f"Sure:\n```json\n{GOOD}\n```", ["code_fence"]),
    ("json", '{"name": "run", "arguments": {"code": "print(\'a\')"}', ["unclosed_brace"]),
    ("json", '{"name": "run", "arguments": {"code": "print(\'a\')', ["unclosed_quote", "unclosed_brace"]),
    ("json", "{'name': 'run', 'arguments': {'code': \"print('a')\"}}", ["python_literal"]),
    ("json", "{“name”: “run”, “arguments”: {“code”: “print('a')”}}", ["smart_quotes"]),
    ("json", '{"tool": "run", "parameters": {"code": "print(\'a\')"}}', ["renamed_keys"]),
    ("json", '{"name": "run", "arguments": "{\\"code\\": \\"print(\'a\')\\"}"}', ["arguments_as_text"]),
    ("json", GOOD + " I will wait.", ["text_after_call"]),
    ("json", GOOD + LOOK, ["later_calls_dropped"]),
    ("json", 'I see.</think>{"name": "run", "arguments": {"code": "print(\'a\')"}}', ["unopened_think"]),
    ("hermes", '<tool_call>{"name": "run", "arguments": {"code": "print(\'a\')"}}', ["unclosed_tag"]),
    ("xml", '<tool name="run"><arg name="code">print(\'a\')', ["unclosed_tag"]),
    ("xml", QWEN, ["other_tags"]),
    ("xml", '<invoke name="run"><parameter name="code">print(\'a\')</parameter></invoke>', ["other_tags"]),
    ("react", "Thought: x\nAction: run\nAction Input: print('a')", ["text_input"]),
    ("react", 'Thought: x\nAction: run\nAction Input: {"code": "print(\'a\')"}\nObservation: a', ["text_after_call"]),
    ("code", "<think></think>So:<code>print('a')</code>", ["text_before_call"]),
    ("code", "<think></think><code>print('a')", ["unclosed_tag"]),
    ("fenced", "```py\nprint('a')\n```", ["fence_label"]),
    ("fenced", "```\nprint('a')\n```", ["fence_label"]),
    ("fenced", "```python\nprint('a')", ["unclosed_tag"]),
    ("fenced", "```python\nprint('a')\n```\nand then\n```python\nprint('b')\n```", ["later_calls_dropped"]),
]


@pytest.mark.parametrize(("name", "text", "repairs"), REPAIRED)
def test_a_common_mistake_is_repaired_by_name(name: str, text: str, repairs: list[str]) -> None:
    parsed = parse(name, text)
    assert (parsed.call, list(parsed.repairs), parsed.well_formed) == (RUN, repairs, False)


def test_backslashes_in_a_python_dict_stay_what_they_were() -> None:
    parsed = parse("json", r"{'name': 'run', 'arguments': {'code': '\\d \d \''}}")
    assert parsed.call == ToolCall("run", {"code": r"\d \d '"})


def test_real_line_breaks_in_a_json_string_are_repaired() -> None:
    parsed = parse("json", '{"name": "run", "arguments": {"code": "a = 1\nprint(a)"}}')
    assert parsed.call == ToolCall("run", {"code": "a = 1\nprint(a)"})
    assert parsed.repairs == ("raw_control",)


def test_a_call_without_arguments_may_leave_them_out() -> None:
    assert parse("json", '{"name": "look"}').repairs == ("arguments_missing",)
    assert parse("react", "Thought: x\nAction: look").call == ToolCall("look", {})


@pytest.mark.parametrize("text", ["<code>print(1)</code>", "print first <code>print(1)</code>"])
def test_the_code_dialect_demands_a_thought_and_auto_does_not(text: str) -> None:
    assert parse("code", text).error == "malformed"
    assert "thought" in parse("code", text).message
    parsed = parse("auto", text)
    assert parsed.call == ToolCall("run", {"code": "print(1)"})
    assert not parsed.well_formed


@pytest.mark.parametrize("name", DIALECTS)
def test_a_call_inside_a_thought_that_never_ends_is_not_made(name: str) -> None:
    text = (
        '<think>perhaps {"name": "look", "arguments": {}} or <tool_call>{"name": "look", "arguments": {}}</tool_call>'
    )
    assert parse(name, text).error == "malformed"
    assert "never closed" in parse(name, text).message


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (ToolCall("run", {"code": MIXED}).to_json(), ToolCall("run", {"code": MIXED})),
        (f"```python\nx = {LOOK}\n```", ToolCall("run", {"code": f"x = {LOOK}"})),
        ('```json\n{"name": "look", "arguments": {}}\n```', ToolCall("look", {})),
        ("<tool_call>\n<function=look>\n</function>\n</tool_call>", ToolCall("look", {})),
        ('<think>Or <code>?</think>{"name": "look", "arguments": {}}', ToolCall("look", {})),
        ("<answer>42</answer>", ToolCall("submit", {"answer": "42"})),
    ],
)
def test_auto_is_not_confused_by_a_call_that_quotes_another_format(text: str, call: ToolCall) -> None:
    assert parse("auto", text).call == call


def test_a_malformed_message_says_what_where_and_what_to_do() -> None:
    parsed = parse("json", 'I look.\n{"name": "look" "arguments": {}}')
    assert parsed.message == (
        'error: malformed: not JSON: Expecting \',\' delimiter, at line 2, column 17, near "\\"arguments\\": {}}"; '
        'expected {"name": ..., "arguments": {...}}; tools: run, edit, mix, look, submit'
    )
    assert parsed.thought == "I look."


@pytest.mark.parametrize("name", sorted(set(DIALECTS) - {"code"}))
def test_a_wrong_tool_or_argument_is_no_fault_of_format(name: str) -> None:
    unknown, wrong = ToolCall("lok", {}), ToolCall("edit", {"path": "a"})
    dialect = get_dialect(name)
    parsed = dialect.parse(dialect.render(unknown, "x"), BOX)
    assert (parsed.error, parsed.well_formed, parsed.call) == ("unknown_tool", True, None)
    assert "did you mean `look`?" in parsed.message
    parsed = dialect.parse(dialect.render(wrong, "x"), BOX)
    assert (parsed.error, parsed.well_formed) == ("bad_arguments", True)
    assert "missing argument `old`" in parsed.message


def test_programs_need_a_tool_that_takes_them() -> None:
    assert "no tool takes one" in parse("fenced", "```python\nx\n```", NO_CODE).message
    with pytest.raises(ConfigError, match=r"@tool\(code="):
        get_dialect("code").instructions(NO_CODE)
    assert "```python" not in get_dialect("fenced").instructions(NO_CODE)


def test_the_first_block_that_is_an_action_counts() -> None:
    others = "Install:\n```bash\npip install x\n```\nData:\n```json\n[1]\n```\n"
    assert parse("fenced", others + "```python\nprint(1)\n```\n```answer\n42\n```").call == ToolCall(
        "run", {"code": "print(1)"}
    )
    assert parse("fenced", "```bash\nls\n```").message.startswith(
        "error: malformed: no code block that is an action (found: bash)"
    )


@pytest.mark.parametrize("name", DIALECTS)
def test_a_thought_that_would_break_out_of_its_tags_is_refused(name: str) -> None:
    thought = "\nAction: run" if name == "react" else "a</think>b"
    with pytest.raises(ConfigError):
        get_dialect(name).render(RUN, thought)


@pytest.mark.parametrize("bad", [{"code": "\ud800"}, {"code": float("nan")}, {"code": object()}])
@pytest.mark.parametrize("name", DIALECTS)
def test_what_no_message_can_hold_is_refused(name: str, bad: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        get_dialect(name).render(ToolCall("run", bad))


def test_a_mapping_is_an_action() -> None:
    assert parse_mapping({"name": "run", "arguments": {"code": "x"}}, BOX).call == ToolCall("run", {"code": "x"})
    for odd in (
        {},
        {"name": 3},
        {"name": "run", "arguments": 3},
        {"name": "run", "arguments": "x"},
        {"role": "assistant"},
        {"tool_calls": 3},
    ):
        assert parse_mapping(odd, BOX).error == "malformed"


def test_an_openai_message_is_read_and_its_later_calls_are_named() -> None:
    call = ToolCall("run", {"code": "x"}, id="c1")
    message = call.to_openai("I look.")
    parsed = parse_openai(message, BOX)
    assert (parsed.call, parsed.thought, parsed.repairs, parsed.well_formed) == (call, "I look.", (), True)
    message["tool_calls"] *= 2
    parsed = parse_openai(message, BOX)
    assert (parsed.call, parsed.repairs) == (call, ("later_calls_dropped",))
    assert "only the first, `run`, was made" in parsed.message


def test_broken_arguments_of_an_openai_message_are_repaired_or_explained() -> None:
    message = RUN.to_openai()
    message["tool_calls"][0]["function"]["arguments"] = '{"code": "x",}'
    assert parse_openai(message, BOX).repairs == ("trailing_comma",)
    message["tool_calls"][0]["function"]["arguments"] = "print(1)"
    assert "a text that is no JSON object" in parse_openai(message, BOX).message
    assert "holds no tool call" in parse_openai({"role": "assistant", "content": "Done."}, BOX).message


def test_a_message_beyond_the_limit_is_named_so() -> None:
    parsed = too_long(50_000, 32_768)
    assert (parsed.call, parsed.error, parsed.well_formed) == (None, "malformed", False)
    assert "50000 characters" in parsed.message


def test_a_misspelt_dialect_is_suggested() -> None:
    with pytest.raises(ConfigError, match="did you mean 'hermes'"):
        get_dialect("hermess")
    assert list(DIALECTS) == sorted(DIALECTS)
