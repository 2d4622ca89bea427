"""Every attack and every honest solution, in the order in which they are shown."""

from __future__ import annotations

from agent_envs.envs.swe.attacks import (
    beside,
    clocks,
    collection,
    config,
    detection,
    exits,
    honest_implementations,
    honest_shapes,
    information,
    machinery,
    memory,
    peeking,
    records,
    resources,
    seals,
    sessions,
    state,
    tree,
    trials,
    values,
)
from agent_envs.envs.swe.attacks.attack import Attack, Honest

_FAMILIES = (
    config,
    collection,
    exits,
    records,
    seals,
    beside,
    clocks,
    values,
    machinery,
    sessions,
    peeking,
    trials,
    memory,
    detection,
    resources,
    tree,
    state,
    information,
)


def catalogue() -> tuple[Attack, ...]:
    """Every attack, those of the published checklist first."""
    found = [attack for family in _FAMILIES for attack in family.ATTACKS]
    return tuple(sorted(found, key=lambda attack: (not attack.number.startswith("2.4/"), attack.number)))


def honest() -> tuple[Honest, ...]:
    """Every honest solution that must be called RESOLVED."""
    return honest_shapes.SHAPES + honest_implementations.IMPLEMENTATIONS
