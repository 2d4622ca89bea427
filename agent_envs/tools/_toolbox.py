"""The decorator, the tool as an agent sees it, and the tools of one environment."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

import msgspec

from agent_envs.errors import ConfigError, ToolDefinitionError
from agent_envs.json_lines import JsonObject
from agent_envs.tools._arguments import JSON, explain, json_fault, kind_of, locate_fault, read_text, suggest
from agent_envs.tools._calls import BadArguments
from agent_envs.tools._schema import describe, json_kinds, read_signature

Function = TypeVar("Function", bound=Callable[..., object])
_MARK = "__agent_tool__"


@dataclass(frozen=True, slots=True)
class _Mark:
    name: str
    code: str
    language: str = "python"


@overload
def tool(function: Function, /) -> Function: ...
@overload
def tool(*, name: str = "", code: str = "", language: str = "python") -> Callable[[Function], Function]: ...
def tool(
    function: Function | None = None, /, *, name: str = "", code: str = "", language: str = "python"
) -> Function | Callable[[Function], Function]:
    """Mark a function or method as a tool; it stays an ordinary function.

    Args:
        function: What the decorator stands on.
        name: What the agent calls it; the function's own name by default.
        code: The parameter that takes program text, so that a dialect knows where a bare program goes.
        language: What the program is written in, as a Markdown block is labelled: `python` or `bash`.
    """

    def mark(target: Function) -> Function:
        if not inspect.isfunction(target):
            raise ToolDefinitionError(
                f"@tool stands on a function, got {type(target).__name__}; put it below the others"
            )
        vars(target)[_MARK] = _Mark(name or target.__name__, code, language)
        return target

    return mark if function is None else mark(function)


class Tool:
    """A function as an agent sees it: name, description, schema; and the check of what the agent sends."""

    def __init__(self, function: Callable[..., object], *, method: bool = False) -> None:
        if not inspect.isfunction(function):
            raise ToolDefinitionError(f"a tool is a function or method, got {type(function).__name__}")
        mark = vars(function).get(_MARK, _Mark(function.__name__, ""))
        signature = read_signature(function, mark.name, method=method)
        self.function = function
        """Called as `function(session, **validated)` where `method`, else as `function(**validated)`."""
        self.method = method
        self.name: str = mark.name
        self.description = signature.description
        self.code_parameter: str = mark.code
        """The parameter that takes program text; empty where there is none."""
        self.code_language: str = mark.language
        """What that program is written in."""
        self._schema = signature.schema
        self._arguments = signature.arguments
        self._kinds = {name: json_kinds(sub, self._schema) for name, sub in self._schema["properties"].items()}
        self._check_code_parameter()

    @property
    def parameters(self) -> JsonObject:
        """The JSON schema of the arguments, a fresh copy."""
        return _fresh(self._schema)

    @property
    def required(self) -> tuple[str, ...]:
        """The parameters without a default, in order."""
        return tuple(self._schema["required"])

    def kinds(self, parameter: str) -> frozenset[str]:
        """The JSON types `parameter` may have (`any` where it takes all); empty where there is no such parameter."""
        return self._kinds.get(parameter, frozenset())

    def schema(self) -> JsonObject:
        """The tool as the OpenAI API wants it, a fresh copy."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def call(self, session: object, arguments: Mapping[str, Any]) -> object:
        """Call it with validated arguments; `session` is ignored by a tool that is a plain function."""
        return self.function(session, **arguments) if self.method else self.function(**arguments)

    def validate(self, arguments: Mapping[str, Any], *, from_text: bool = False) -> JsonObject:
        """The arguments as the function takes them, defaults filled in, or `BadArguments` for the agent to read.

        `from_text` is for formats in which every value is text: a value whose parameter is no string is read as JSON.
        """
        if type(arguments) is not dict:
            raise BadArguments(f"arguments of `{self.name}`: expected an object, got {kind_of(arguments)}")
        if json_fault(arguments):
            raise BadArguments(locate_fault(arguments))
        if from_text:
            arguments = self.read_texts(arguments)
        try:
            checked = msgspec.convert(arguments, self._arguments)
        except (msgspec.ValidationError, RecursionError) as cause:
            known, required = self._kinds, self.required
            what = explain(arguments, str(cause), known=known, required=required)
            raise BadArguments(f"{what} (`{self.name}` takes {self.usage})") from None
        return msgspec.structs.asdict(checked)

    def read_texts(self, texts: Mapping[str, JSON]) -> dict[str, JSON]:
        """JSON values for arguments that came as text: strings stay where a string is wanted, the rest is decoded."""
        return {name: read_text(value, self.kinds(name)) for name, value in texts.items()}

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tool) and self.schema() == other.schema() and self.code_parameter == other.code_parameter
        )

    def __hash__(self) -> int:
        return hash((self.name, self.description))

    def __reduce__(self) -> tuple[Callable[..., Tool], tuple[Callable[..., object], bool]]:
        return _rebuild_tool, (self.function, self.method)

    def __repr__(self) -> str:
        return f"<Tool {self.name}({', '.join(self._schema['properties'])})>"

    def _check_code_parameter(self) -> None:
        if not self.code_parameter:
            return
        if "string" not in self.kinds(self.code_parameter):
            raise ToolDefinitionError(
                f"tool `{self.name}`: code={self.code_parameter!r} names no parameter of type str"
            )
        if others := [name for name in self.required if name != self.code_parameter]:
            raise ToolDefinitionError(
                f"tool `{self.name}`: a bare program leaves {', '.join(others)} unset; give each a default"
            )

    @property
    def usage(self) -> str:
        """The arguments on one line, for people and agents: `code: string, times?: integer`."""
        parts = []
        for name, sub in self._schema["properties"].items():
            optional = "" if name in self.required else "?"
            parts.append(f"{name}{optional}: {describe(sub, self._schema)}")
        return ", ".join(parts) or "no arguments"


class Toolbox:
    """The tools one environment offers, in definition order."""

    def __init__(self, *sources: type | Callable[..., object] | Tool) -> None:
        """Collect the `@tool` methods of session classes, functions, and ready tools."""
        self._tools: dict[str, Tool] = {}
        for offered in (made for source in sources for made in _tools_of(source)):
            if offered.name in self._tools:
                raise ToolDefinitionError(f"two tools are called `{offered.name}`; rename one with @tool(name=...)")
            self._tools[offered.name] = offered
        if not self._tools:
            raise ToolDefinitionError("no tools: mark a method of the session class with @tool, or pass functions")
        takers = [offered.name for offered in self if offered.code_parameter]
        if len(takers) > 1:
            raise ToolDefinitionError(
                f"{' and '.join(takers)} all take a bare program; only one tool may have code=..."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools."""
        return tuple(self._tools)

    @property
    def code_tool(self) -> Tool | None:
        """The tool that takes a bare program, if there is one."""
        return next((offered for offered in self if offered.code_parameter), None)

    def get(self, name: str) -> Tool | None:
        """The tool of this name, if there is one."""
        return self._tools.get(name)

    def subset(self, names: Iterable[str]) -> Toolbox:
        """A toolbox of only these tools, in the given order."""
        return Toolbox(*(self[name] for name in names))

    def schemas(self) -> list[JsonObject]:
        """The tools as the OpenAI API wants them, fresh copies."""
        return [offered.schema() for offered in self]

    def __getitem__(self, name: str) -> Tool:
        if name not in self._tools:
            raise ConfigError(f"no tool is called {name!r}{suggest(name, self.names)}; tools: {', '.join(self.names)}")
        return self._tools[name]

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Toolbox) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(self.names)

    def __repr__(self) -> str:
        return f"Toolbox({', '.join(self.names)})"


def _rebuild_tool(function: Callable[..., object], method: bool) -> Tool:
    return Tool(function, method=method)


def _tools_of(source: type | Callable[..., object] | Tool) -> list[Tool]:
    if isinstance(source, Tool):
        return [source]
    if not isinstance(source, type):
        return [Tool(source)]
    found: dict[str, Tool] = {}
    for base in reversed(source.__mro__):
        for attribute, member in vars(base).items():
            if isinstance(member, (staticmethod, classmethod)) and _MARK in vars(member.__func__):
                raise ToolDefinitionError(
                    f"{source.__name__}.{attribute}: a tool is an ordinary method; remove @{type(member).__name__}"
                )
            if inspect.isfunction(member) and _MARK in vars(member):
                found[attribute] = Tool(member, method=True)
            elif attribute in found:
                if member is not None:
                    raise ToolDefinitionError(
                        f"{base.__name__}.{attribute} hides the tool `{found[attribute].name}`; "
                        f"mark it with @tool, or write `{attribute} = None` to take the tool away"
                    )
                del found[attribute]
    return list(found.values())


def _fresh(value: JsonObject) -> JsonObject:
    copied: JsonObject = msgspec.json.decode(msgspec.json.encode(value))
    return copied
