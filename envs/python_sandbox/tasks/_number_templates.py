"""Questions about integers: sums, progressions, divisors, primes, powers and digits."""

from __future__ import annotations

from random import Random

from agent_envs.envs.python_sandbox.tasks._template import Template, Value


def _span(rng: Random, level: int) -> dict[str, Value]:
    low = rng.randint(2, 10**level)
    return {"a": low, "b": low + rng.randint(9, 10 ** (level + 1))}


def _prime_bound(rng: Random, level: int) -> dict[str, Value]:
    bound = rng.randint(20, 100 * 6**level)
    # A prime bound, so that "below" and "up to" differ.
    while any(bound % k == 0 for k in range(2, int(bound**0.5) + 1)):
        bound += 1
    return {"n": bound}


def _divisible(rng: Random, level: int) -> dict[str, Value]:
    p = rng.randint(2, 9)
    return {"n": rng.randint(50, 10 ** (level + 1)), "p": p, "q": p + rng.randint(1, 8)}


NUMBER_TEMPLATES = (
    Template(
        name="range-sum",
        topic="sums",
        ask="Compute the sum of all integers from {a} to {b}, both included.",
        body="answer = sum(range(a, b + 1))",
        slips=(("b + 1", "b"), ("range(a,", "range(a + 1,")),
        draw=_span,
    ),
    Template(
        name="multiples-sum",
        topic="sums",
        ask="Compute the sum of all integers from 1 to {n}, {n} included, that are divisible by {p} or by {q}"
        " (or by both).",
        body="answer = sum(k for k in range(1, n + 1) if k % p == 0 or k % q == 0)",
        slips=(
            (
                "sum(k for k in range(1, n + 1) if k % p == 0 or k % q == 0)",
                "sum(range(0, n + 1, p)) + sum(range(0, n + 1, q))",
            ),
            (" or ", " and "),
        ),
        draw=_divisible,
    ),
    Template(
        name="arithmetic-progression",
        topic="sums",
        ask="An arithmetic progression starts with {a}, and each term is {d} more than the one before."
        " Compute the sum of its first {n} terms.",
        body="answer = sum(a + d * k for k in range(n))",
        slips=(("range(n)", "range(n + 1)"), ("d * k", "d * (k + 1)")),
        draw=lambda rng, level: {
            "a": rng.randint(-50, 50 * level),
            "d": rng.randint(2, 9 * level),
            "n": rng.randint(10, 10 ** (level + 1)),
        },
    ),
    Template(
        name="geometric-progression",
        topic="sums",
        ask="A geometric progression starts with {a}, and each term is {r} times the one before."
        " Compute the exact sum of its first {n} terms.",
        body="answer = sum(a * r**k for k in range(n))",
        slips=(("range(n)", "range(n + 1)"), ("range(n)", "range(1, n)")),
        draw=lambda rng, level: {
            "a": rng.randint(1, 20),
            "r": rng.randint(2, 3 + 2 * level),
            "n": rng.randint(5, 4 + 12 * level),
        },
    ),
    Template(
        name="square-of-sum",
        topic="sums",
        ask="Compute the difference between the square of the sum and the sum of the squares of the integers"
        " from {a} to {b}, both included (the square of the sum minus the sum of the squares).",
        body="numbers = range(a, b + 1)\nanswer = sum(numbers) ** 2 - sum(k * k for k in numbers)",
        slips=(("b + 1", "b"), ("sum(numbers) ** 2", "2 * sum(numbers)")),
        draw=_span,
    ),
    Template(
        name="divisor-sum",
        topic="divisors",
        ask="Compute the sum of all positive divisors of {n}, 1 and {n} itself included.",
        body="answer = sum(k + (n // k if k * k != n else 0) for k in range(1, int(n**0.5) + 1) if n % k == 0)",
        slips=(("range(1,", "range(2,"), (" if n % k == 0)", " if n % k == 0) - n")),
        draw=lambda rng, level: {"n": rng.randint(2, 20 ** (level + 1)) * 12},
    ),
    Template(
        name="divisor-count",
        topic="divisors",
        ask="How many integers from {a} to {b}, both included, have exactly {k} positive divisors?",
        body="""
counts = [0] * (b + 1)
for step in range(1, b + 1):
    for multiple in range(step, b + 1, step):
        counts[multiple] += 1
answer = counts[a:].count(k)
""",
        slips=(("range(1, b", "range(2, b"), ("counts[a:]", "counts")),
        draw=lambda rng, level: {"a": rng.randint(2, 50), "b": rng.randint(60, 150 * 2**level), "k": rng.randint(3, 8)},
    ),
    Template(
        name="prime-sum",
        topic="primes",
        ask="Compute the sum of all prime numbers that are smaller than {n}.",
        body="""
composite = bytearray(n + 1)
answer = 0
for k in range(2, n):
    if not composite[k]:
        answer += k
        composite[k::k] = b"x" * len(composite[k::k])
""",
        slips=(("range(2, n)", "range(2, n + 1)"), ("range(2, n)", "range(3, n)")),
        draw=_prime_bound,
    ),
    Template(
        name="prime-gap",
        topic="primes",
        ask="Among the prime numbers not larger than {n}, what is the largest difference between two that follow"
        " each other?",
        body="""
composite = bytearray(n + 1)
primes = []
for k in range(2, n + 1):
    if not composite[k]:
        primes.append(k)
        composite[k::k] = b"x" * len(composite[k::k])
answer = max(after - before for before, after in zip(primes, primes[1:]))
""",
        slips=(("after - before for", "after - before - 1 for"),),
        draw=_prime_bound,
    ),
    Template(
        name="modular-power",
        topic="powers",
        ask="Compute the remainder of {a} to the power {e} on division by {m}.",
        body="answer = pow(a, e, m)",
        slips=(("pow(a, e, m)", "a * e % m"), ("pow(a, e, m)", "pow(a, e - 1, m)")),
        draw=lambda rng, level: {
            "a": rng.randint(2, 10**level),
            "e": rng.randint(10, 10 ** (2 * level)),
            "m": rng.randint(11, 10 ** (level + 1)),
        },
    ),
    Template(
        name="power-digit-sum",
        topic="digits",
        ask="Compute the sum of the decimal digits of {a} to the power {e}.",
        body="answer = sum(map(int, str(a**e)))",
        slips=(("sum(map(int, str(a**e)))", "len(str(a**e))"), ("a**e", "a**(e + 1)")),
        draw=lambda rng, level: {"a": rng.randint(2, 30), "e": rng.randint(5, 60 * level)},
    ),
    Template(
        name="digit-occurrences",
        topic="digits",
        ask="All integers from 1 to {n}, {n} included, are written down in decimal."
        " How many times is the digit {d} written?",
        body="answer = sum(str(k).count(str(d)) for k in range(1, n + 1))",
        slips=(("str(k).count(str(d))", "(str(d) in str(k))"), ("n + 1", "n")),
        draw=lambda rng, level: {"n": rng.randint(20, 15 * 6**level), "d": rng.randint(1, 9)},
    ),
    Template(
        name="palindromes",
        topic="digits",
        ask="How many integers from {a} to {b}, both included, read the same forwards and backwards in decimal?",
        body="answer = sum(str(k) == str(k)[::-1] for k in range(a, b + 1))",
        slips=(("str(k) ==", "k > 9 and str(k) =="), ("b + 1", "b")),
        draw=lambda rng, level: {"a": rng.randint(1, 9), "b": 11 * rng.randint(2, 9 * 3**level)},
    ),
    Template(
        name="coprime-pairs",
        topic="divisors",
        ask="How many pairs of integers (x, y) with 1 <= x < y <= {n} have no common divisor except 1?",
        body="""
from math import gcd
answer = sum(gcd(x, y) == 1 for y in range(1, n + 1) for x in range(1, y))
""",
        slips=(("range(1, y)", "range(1, y + 1)"), ("n + 1", "n")),
        draw=lambda rng, level: {"n": rng.randint(8, 45 * level)},
    ),
)
