"""What the typed literals promise: every builtin value crosses exactly, and nothing else crosses at all."""

from __future__ import annotations

import collections
import decimal
import fractions
import math
from typing import Any

import numpy as np
import pytest
from agent_envs.verifiers.literals import LiteralMalformed, LiteralRefused, decode, encode
from hypothesis import given
from hypothesis import strategies as st

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
)
hashables = st.recursive(
    scalars, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=6
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.sets(hashables, max_size=3)
        | st.dictionaries(hashables, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
def test_every_value_of_builtin_types_arrives_as_it_was(value: Any) -> None:
    assert decode(encode(value)) == value


@pytest.mark.parametrize("value", [True, 1, 1.0, 1 + 0j, "1", b"1", (1,), [1], {1}, frozenset({1})])
def test_the_type_arrives_exactly(value: Any) -> None:
    assert type(decode(encode(value))) is type(value)


def test_numbers_without_a_literal_in_python_arrive_too() -> None:
    assert math.isnan(decode(encode(float("nan"))))
    assert decode(encode([float("inf"), float("-inf")])) == [math.inf, -math.inf]
    assert math.copysign(1, decode(encode(-0.0))) == -1
    assert decode(encode(10**50_000)) == 10**50_000


def test_plain_equals_of_standard_containers_and_numpy_scalars_are_sent() -> None:
    assert decode(encode(collections.Counter("aab"))) == {"a": 2, "b": 1}
    assert decode(encode(collections.defaultdict(list, {1: [2]}))) == {1: [2]}
    assert decode(encode([np.int64(3), np.float64(0.5), np.bool_(True)])) == [3, 0.5, True]


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


@pytest.mark.parametrize(
    "value",
    [
        Liar(3),
        [Liar(3)],
        {Liar(3): 1},
        object(),
        int,
        len,
        decimal.Decimal(1),
        fractions.Fraction(1),
        range(3),
        np.zeros(1),
        iter([]),
        (x for x in ()),
        collections.deque(),
        ...,
        bytearray(b"x"),
        {}.keys(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_everything_else_is_refused_by_name(value: object) -> None:
    with pytest.raises(LiteralRefused, match="of type"):
        encode(value)


def test_values_without_end_are_refused_in_time() -> None:
    loop: list[Any] = []
    loop.append(loop)
    tower: Any = 1
    for _ in range(60):
        tower = [tower, tower]
    for value in (loop, tower, "x" * (5 << 20)):
        with pytest.raises(LiteralRefused):
            encode(value)


@pytest.mark.parametrize(
    "encoded",
    [
        b"",
        b"x",
        b"N ",
        b"NN",
        b"i",
        b"i;",
        b"i0x1;",
        b"i 1;",
        b"i1_0;",
        b"i+1;",
        b"i01;",
        b"i-0;",
        b"f1;",
        b"fNaN;",
        b"f1e400;",
        b"s5:abc",
        b"s-1:",
        b"s1_0:0123456789",
        b"s1:\xff",
        b"s99999999999:x",
        b"l2:N",
        b"l1:",
        b"d1:N",
        b"d2:i1;NTN",
        b"d1:l0:N",
        b"S1:l0:",
        b"S2:NN",
        b"S2:i1;T",
        b"c1.0;",
        b"l1:" * 200 + b"N",
        b"p1:x",
        b"(1)",
    ],
)
def test_bytes_that_encode_would_not_write_are_malformed(encoded: bytes) -> None:
    with pytest.raises(LiteralMalformed):
        decode(encoded)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_value_or_malformed(encoded: bytes) -> None:
    try:
        value = decode(encoded)
    except LiteralMalformed:
        return
    assert isinstance(encode(value), bytes)
