"""Questions about how many: combinatorics, calendars, strings, matrices and graphs."""

from __future__ import annotations

from random import Random

from agent_envs.envs.python_sandbox.tasks._template import Template, Value


def _blocked_grid(rng: Random, level: int) -> dict[str, Value]:
    w, h = rng.randint(3, 5 * level), rng.randint(3, 5 * level)
    return {"w": w, "h": h, "x": rng.randint(1, w - 1), "y": rng.randint(1, h - 1)}


def _years(rng: Random, level: int) -> dict[str, Value]:
    first = rng.randint(1890, 1990)
    return {"first": first, "last": first + rng.randint(4, 30 * level)}


def _dates(rng: Random, level: int) -> dict[str, Value]:
    year = rng.randint(1890, 2000)
    later = year + rng.randint(1, 5**level)
    return {
        "start": f"{year}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
        "end": f"{later}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    }


def _word(rng: Random, letters: str, length: int) -> str:
    return "".join(letters[rng.randint(0, len(letters) - 1)] for _ in range(length))


def _overlap(rng: Random, level: int) -> dict[str, Value]:
    part = ("aba", "aa", "abab", "bab")[rng.randint(0, 3)]
    return {"word": part[:-1] + _word(rng, "ab", 3 + level), "times": rng.randint(3, 40 * level), "part": part}


def _letters(rng: Random, level: int) -> dict[str, Value]:
    word = _word(rng, "abcde", 5 + 2 * level)
    return {"word": word, "times": rng.randint(2, 20 * level), "letter": word[rng.randint(0, len(word) - 1)]}


def _matrix(rng: Random, level: int) -> dict[str, Value]:
    size = 2 if level == 1 else 3
    return {"matrix": [[rng.randint(-2, 5) for _ in range(size)] for _ in range(size)], "n": rng.randint(3, 6 * level)}


def _coins(rng: Random, level: int) -> dict[str, Value]:
    second = rng.randint(2, 4)
    third = second + rng.randint(1, 5)
    return {"coins": [1, second, third, third + rng.randint(2, 10)][: 2 + level], "n": rng.randint(10, 30 * level)}


COUNTING_TEMPLATES = (
    Template(
        name="blocked-paths",
        topic="combinatorics",
        ask="On a grid one walks from the point (0, 0) to the point ({w}, {h}); each step goes one unit to the right or"
        " one unit up. How many different paths do not pass through the point ({x}, {y})?",
        body="""
from math import comb
answer = comb(w + h, w) - comb(x + y, x) * comb(w - x + h - y, w - x)
""",
        slips=((" - comb(x + y, x) * comb(w - x + h - y, w - x)", ""), ("comb(w - x + h - y, w - x)", "1")),
        draw=_blocked_grid,
    ),
    Template(
        name="committees",
        topic="combinatorics",
        ask="From {women} women and {men} men a committee of {size} people is chosen."
        " In how many ways can this be done so that at least {least} of them are women?",
        body="""
from math import comb
answer = sum(comb(women, k) * comb(men, size - k) for k in range(least, size + 1))
""",
        slips=(("range(least,", "range(least + 1,"), ("size + 1", "least + 1")),
        draw=lambda rng, level: {
            "women": rng.randint(5, 8 * level),
            "men": rng.randint(5, 8 * level),
            "size": rng.randint(4, 5),
            "least": rng.randint(1, 3),
        },
    ),
    Template(
        name="coin-change",
        topic="combinatorics",
        ask="There are coins of the values {coins}, as many of each as needed. In how many ways can the amount {n}"
        " be paid, if the order of the coins does not matter?",
        body="""
ways = [1] + [0] * n
for coin in coins:
    for amount in range(coin, n + 1):
        ways[amount] += ways[amount - coin]
answer = ways[n]
""",
        slips=(("for coin in coins:", "for coin in coins[1:]:"), ("answer = ways[n]", "answer = ways[n - 1]")),
        draw=_coins,
    ),
    Template(
        name="fixed-points",
        topic="combinatorics",
        ask="How many orders of the numbers 1 to {n} leave exactly {k} of them in their own place"
        " (the number i in place i)?",
        body="""
from math import comb
moved = [1, 0]
for m in range(2, n + 1):
    moved.append((m - 1) * (moved[m - 1] + moved[m - 2]))
answer = comb(n, k) * moved[n - k]
""",
        slips=(("comb(n, k) * moved", "moved"), ("moved[n - k]\n", "moved[n]\n")),
        draw=lambda rng, level: {"n": rng.randint(5, 4 + 7 * level), "k": rng.randint(1, 3)},
    ),
    Template(
        name="no-two-ones",
        topic="combinatorics",
        ask="How many sequences of {n} digits, each of them 0 or 1, do not contain two ones next to each other?",
        body="""
zero, one = 1, 1
for _ in range(n - 1):
    zero, one = zero + one, zero
answer = zero + one
""",
        slips=(("range(n - 1)", "range(n)"), ("range(n - 1)", "range(n - 2)")),
        draw=lambda rng, level: {"n": rng.randint(6, 40 * level)},
    ),
    Template(
        name="friday-13",
        topic="calendar",
        ask="In the Gregorian calendar, how many times is the 13th day of a month a Friday in the years"
        " from {first} to {last}, both included?",
        body="""
from datetime import date
answer = sum(date(y, m, 13).weekday() == 4 for y in range(first, last + 1) for m in range(1, 13))
""",
        slips=(("last + 1", "last"), ("== 4", "== 5")),
        draw=_years,
    ),
    Template(
        name="days-between",
        topic="calendar",
        ask="In the Gregorian calendar, how many days are there from {start} to {end}"
        " (year-month-day), counting both the first and the last day?",
        body="""
from datetime import date
answer = (date.fromisoformat(end) - date.fromisoformat(start)).days + 1
""",
        slips=((".days + 1", ".days"),),
        draw=_dates,
    ),
    Template(
        name="leap-days",
        topic="calendar",
        ask="How many leap years of the Gregorian calendar lie in the years from {first} to {last}, both included?",
        body="answer = sum(y % 4 == 0 and (y % 100 != 0 or y % 400 == 0) for y in range(first, last + 1))",
        slips=((" and (y % 100 != 0 or y % 400 == 0)", ""), (" or y % 400 == 0", "")),
        draw=lambda rng, level: {
            "first": 4 * rng.randint(300, 420),
            "last": 4 * rng.randint(430, 430 + 70 * level),
        },
    ),
    Template(
        name="overlapping-parts",
        topic="strings",
        ask='The word "{word}" is written {times} times in a row, without gaps.'
        ' How many times does "{part}" occur in the result, if occurrences may overlap?',
        body="text = word * times\nanswer = sum(text.startswith(part, i) for i in range(len(text)))",
        slips=(
            ("sum(text.startswith(part, i) for i in range(len(text)))", "text.count(part)"),
            ("word * times", "word"),
        ),
        draw=_overlap,
    ),
    Template(
        name="letter-places",
        topic="strings",
        ask='The word "{word}" is written {times} times in a row, without gaps. The letters of the result are numbered'
        ' from 1. Compute the sum of the numbers of all letters that are "{letter}".',
        body="answer = sum(place for place, seen in enumerate(word * times, start=1) if seen == letter)",
        slips=((", start=1", ""), ("word * times", "word")),
        draw=_letters,
    ),
    Template(
        name="matrix-power",
        topic="matrices",
        ask="Compute the trace (the sum of the diagonal) of the matrix {matrix} (a list of its rows)"
        " raised to the power {n}.",
        body="""
size = range(len(matrix))
power = matrix
for _ in range(n - 1):
    rows = []
    for left in power:
        rows.append([sum(left[k] * matrix[k][j] for k in range(len(matrix))) for j in range(len(matrix))])
    power = rows
answer = 0
for i in size:
    answer += power[i][i]
""",
        slips=(("range(n - 1)", "range(n)"), ("power[i][i]", "matrix[i][i] ** n")),
        draw=_matrix,
    ),
    Template(
        name="walks-on-a-cycle",
        topic="graphs",
        ask="The {n} corners of a regular polygon are numbered around it, starting with 0. In how many ways can one"
        " walk {steps} steps from corner 0 and end at corner {end}, if each step goes to one of the two neighbours?",
        body="""
ways = [1] + [0] * (n - 1)
for _ in range(steps):
    previous = ways[:]
    for corner in range(n):
        ways[corner] = previous[corner - 1] + previous[(corner + 1) % n]
answer = ways[end]
""",
        slips=(("range(steps)", "range(steps + 1)"), ("range(steps)", "range(steps - 1)")),
        draw=lambda rng, level: {
            "n": 2 * rng.randint(2, 4 * level) + 1,
            "steps": rng.randint(8, 20 * level),
            "end": rng.randint(0, 4),
        },
    ),
    Template(
        name="linked-groups",
        topic="graphs",
        ask="The integers from 1 to {n} are linked when the larger of two is a multiple of the smaller and the quotient"
        " is {p} or {q}. Linked numbers, directly or over others, belong to one group. How many groups are there?",
        body="""
group = list(range(n + 1))
for k in range(1, n + 1):
    for factor in (p, q):
        if k * factor <= n:
            old, new = group[k * factor], group[k]
            group = [new if g == old else g for g in group]
answer = len(set(group[1:]))
""",
        slips=(("group[1:]", "group"), ("k * factor <= n", "k * factor < n and factor == p")),
        draw=lambda rng, level: {"n": rng.randint(10, 40 * level), "p": rng.randint(2, 3), "q": rng.randint(4, 7)},
    ),
)
