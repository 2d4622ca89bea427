"""Questions about what a small process does, step by step."""

from __future__ import annotations

from random import Random

from agent_envs.envs.python_sandbox.tasks._template import Template, Value


def _robot(rng: Random, level: int) -> dict[str, Value]:
    moves = "".join("NESW"[rng.randint(0, 3)] for _ in range(4 + 4 * level))
    return {"moves": moves, "times": rng.randint(1, 3 * level)}


def _generator(rng: Random, level: int) -> dict[str, Value]:
    modulus = rng.randint(50, 10 ** (level + 1))
    return {
        "x": rng.randint(1, modulus - 1),
        "a": rng.randint(2, modulus - 1),
        "c": rng.randint(1, modulus - 1),
        "m": modulus,
        "n": rng.randint(5, 5 * 8**level),
    }


def _lockers(rng: Random, level: int) -> dict[str, Value]:
    doors = rng.randint(15, 60 * level)
    return {"doors": doors, "walkers": rng.randint(5, doors)}


PROCESS_TEMPLATES = (
    Template(
        name="counting-out",
        topic="processes",
        ask="{n} people, numbered from 1, stand in a circle. They count aloud round the circle, beginning with person 1"
        " saying 1; whoever says {k} leaves it, and the next one says 1 again, until one person is left."
        " What is the number of that person?",
        body="""
people, at = list(range(1, n + 1)), 0
while len(people) > 1:
    at = (at + k - 1) % len(people)
    del people[at]
answer = people[0]
""",
        slips=(("range(1, n + 1)", "range(n)"), ("at + k - 1", "at + k")),
        draw=lambda rng, level: {"n": rng.randint(6, 15 * 4**level), "k": rng.randint(2, 3 + 3 * level)},
    ),
    Template(
        name="half-or-triple",
        topic="processes",
        ask="Start with {n}. In each step an even number is halved, and an odd number is tripled and increased by 1."
        " How many steps does it take to reach 1 for the first time?",
        body="""
answer = 0
while n != 1:
    n = n // 2 if n % 2 == 0 else 3 * n + 1
    answer += 1
""",
        slips=(("answer = 0", "answer = 1"),),
        draw=lambda rng, level: {"n": rng.randint(5, 10 ** (level + 1))},
    ),
    Template(
        name="linear-generator",
        topic="processes",
        ask="A sequence begins with x_0 = {x}. Each next term is the remainder of {a} * x + {c} on division by {m},"
        " where x is the term before. Compute x_{n}.",
        body="for _ in range(n):\n    x = (a * x + c) % m\nanswer = x",
        slips=(("range(n)", "range(n - 1)"), ("(a * x + c) % m", "(a * x) % m")),
        draw=_generator,
    ),
    Template(
        name="robot-cells",
        topic="processes",
        ask="A robot stands on an endless square grid and follows the commands {moves} (N, E, S, W: one cell north,"
        " east, south, west), the whole list {times} times in a row. On how many different cells has it stood,"
        " the first one included?",
        body="""
x, y, seen = 0, 0, {(0, 0)}
for move in moves * times:
    x += {"E": 1, "W": -1}.get(move, 0)
    y += {"N": 1, "S": -1}.get(move, 0)
    seen.add((x, y))
answer = len(seen)
""",
        slips=(("answer = len(seen)", "answer = len(moves * times)"), ("answer = len(seen)", "answer = len(seen) - 1")),
        draw=_robot,
    ),
    Template(
        name="lockers",
        topic="processes",
        ask="In a row there are {doors} closed doors, numbered from 1. {walkers} people walk along it one after the"
        " other; person number k changes every door whose number is a multiple of k (an open one is closed,"
        " a closed one opened). How many doors are open at the end?",
        body="""
is_open = [False] * (doors + 1)
for k in range(1, walkers + 1):
    for door in range(k, doors + 1, k):
        is_open[door] = not is_open[door]
answer = sum(is_open)
""",
        slips=(("range(1, walkers + 1)", "range(1, walkers)"), ("range(1, walkers + 1)", "range(2, walkers + 1)")),
        draw=_lockers,
    ),
    Template(
        name="savings",
        topic="processes",
        ask="A savings account starts with {start} cents. At the end of each year, interest of {rate} percent is added,"
        " rounded down to whole cents, and then {extra} cents are paid in."
        " How many cents are in the account after {years} years?",
        body="for _ in range(years):\n    start += start * rate // 100\n    start += extra\nanswer = start",
        slips=(("start * rate // 100", "(start + extra) * rate // 100"), ("range(years)", "range(years - 1)")),
        draw=lambda rng, level: {
            "start": rng.randint(1_000, 10 ** (level + 4)),
            "rate": rng.randint(2, 9),
            "extra": rng.randint(100, 9_999),
            "years": rng.randint(3, 12 * level),
        },
    ),
    Template(
        name="look-and-say",
        topic="processes",
        ask="A sequence of digit strings begins with {start}. Each next string describes the one before by its runs of"
        " equal digits: the length of the run, then its digit (so 1211 is followed by 111221)."
        " How many digits has the string after {n} such steps?",
        body="""
from itertools import groupby
text = str(start)
for _ in range(n):
    text = "".join(f"{len(list(run))}{digit}" for digit, run in groupby(text))
answer = len(text)
""",
        slips=(("range(n)", "range(n + 1)"), ("range(n)", "range(n - 1)")),
        draw=lambda rng, level: {"start": rng.randint(2, 99), "n": rng.randint(4, 5 + 4 * level)},
    ),
)
