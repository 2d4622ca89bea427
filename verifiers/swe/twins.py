"""Wrong twins of tests: the same file with one expectation per test turned into its contradiction.

Whatever passes a test cannot honestly pass its twin: `f(2) == 4` and `f(2) == 5` exclude each other, whoever wrote
`f`. A twin differs from its test in as little as can be, mostly in one literal, so that only somebody who knows the
right answer can tell them apart. Which twins really fail is found out with the reference (see `admission`).
"""

from __future__ import annotations

import ast
import random
from collections.abc import Collection, Mapping

from agent_envs.verifiers.swe.contradictions import Contradiction, Edit, TestFunction, contradictions, edited, tests_in


def twin_of(source: str, *, seed: int, equal: Collection[str] = ()) -> str:
    """The source with one expectation of every test function contradicted; the same where nothing can be.

    Different seeds choose different expectations and different wrong values. Lines stay where they are. What is sealed
    stays as it is, but for relations between two reported values (those with the keys `equal` want them to be equal). A
    source that is no Python comes back unchanged.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    rng = random.Random(seed)
    return edited(source, [edit for test in tests_in(tree) for edit in _chosen(test, rng, equal)])


def _chosen(test: TestFunction, rng: random.Random, equal: Collection[str]) -> list[Edit]:
    """One of the subtlest contradictions of one of the expectations; which one, nobody can know."""
    found: dict[int, list[Contradiction]] = {}
    for one in contradictions(test, rng, equal=equal):
        if all(edit.keeps_lines for edit in one.edits):
            found.setdefault(one.line, []).append(one)
    if not found:
        return []
    choice = found[rng.choice(sorted(found))]
    subtlest = min(one.bluntness for one in choice)
    return rng.choice([one.edits for one in choice if one.bluntness == subtlest])


def changed_lines(source: str, twin: str) -> dict[str, str]:
    """The lines of the twin that are not those of the source, by their number; see `with_lines`."""
    pairs = enumerate(zip(source.split("\n"), twin.split("\n"), strict=True), start=1)
    return {str(number): wrong for number, (right, wrong) in pairs if right != wrong}


def with_lines(source: str, lines: Mapping[str, str]) -> str:
    """The source with these lines in the place of its own."""
    pairs = enumerate(source.split("\n"), start=1)
    return "\n".join(lines.get(str(number), line) for number, line in pairs)
