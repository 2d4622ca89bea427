"""Values that the wanted rows share without the task knowing them, such as the number that a new order gets.

`{"same": "order"}` in two places says that both hold one value. Every value that could be meant is tried in turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any

import msgspec
from agent_envs.verifiers.web._changes import Change, Wanted, is_link

_MOST_TRIED = 1000
_MOST_SHOWN = 10


def bindings(wanted: Sequence[Wanted], found: Sequence[Change]) -> Iterator[Sequence[Wanted]]:
    """What is wanted, once for every way to fill in the shared values; with any value, where there is no way."""
    names = sorted(_names(wanted))
    candidates = [_candidates(name, wanted, found) for name in names]
    # Where the number of rows is wrong, nothing fits: a few are tried, for what the evidence says.
    most = _MOST_TRIED if len(found) == sum(one.count for one in wanted) else _MOST_SHOWN
    tried = list(islice(product(*candidates), most))
    for values in tried or [tuple({"any": True} for _ in names)]:
        yield [_filled(one, dict(zip(names, values, strict=True))) for one in wanted]


def lonely_links(wanted: Sequence[Wanted]) -> list[str]:
    """The names that are used in one place only."""
    return [name for name, places in _names(wanted).items() if places < 2]


def _names(wanted: Sequence[Wanted]) -> Counter[str]:
    return Counter(matcher["same"] for one in wanted for matcher in _matchers(one) if is_link(matcher))


def _matchers(one: Wanted) -> list[Any]:
    return [*one.where.values(), *one.where_before.values()]


def _candidates(name: str, wanted: Sequence[Wanted], found: Sequence[Change]) -> list[Any]:
    """The values that every place of the name could have, in the order in which they were found."""
    places = [
        [getattr(change, side).get(column) for change in found if (change.table, change.kind) == (one.table, one.kind)]
        for one in wanted
        for side, wishes in (("row", one.where), ("before", one.where_before))
        for column, matcher in wishes.items()
        if matcher == {"same": name}
    ]
    return [value for value in dict.fromkeys(places[0]) if all(value in place for place in places)]


def _filled(one: Wanted, values: Mapping[str, Any]) -> Wanted:
    def fill(wishes: Mapping[str, Any]) -> dict[str, Any]:
        return {name: values[wish["same"]] if is_link(wish) else wish for name, wish in wishes.items()}

    return msgspec.structs.replace(one, where=fill(one.where), where_before=fill(one.where_before))
