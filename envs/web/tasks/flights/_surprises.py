"""Tasks in which what one wants is not there: sold out, gone in the last moment, or never sold."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from agent_envs.envs.web.sites.flights._market import CITIES, DAYS, Itinerary, seats_of
from agent_envs.envs.web.tasks.flights._booking import new_plan, particulars
from agent_envs.envs.web.tasks.flights._plan import (
    Outcome,
    Plan,
    book,
    booked,
    click,
    free_seat,
    named,
    search,
    select,
    submit,
    untouched_rows,
)
from agent_envs.envs.web.tasks.flights._scene import PAIRS, Scene, need, pick, said

from agent_envs.tools import ToolCall


def sold_out(scene: Scene) -> Outcome:
    """Another flight, by a rule, where the wanted one has no seats; it may show only when one wants to book it."""
    pair = pick(scene.random, PAIRS)
    day = scene.today + timedelta(days=scene.random.randrange(4, 40))
    ways = sorted(scene.direct(pair, day), key=lambda way: way.legs[0].departs)
    need(len(ways) > 3 and len({way.legs[0].departs for way in ways}) == len(ways))
    at = scene.random.randrange(len(ways) - 1)
    first, second = ways[at], ways[at + 1]
    need(scene.steady(first) and scene.steady(second))
    asks = [f"Book flight {named(first)} from {pair[0]} to {pair[1]} on {said(day)} in economy for one traveller."]
    asks += ["If it is sold out, or sells out while you book, take the next non-stop flight between these cities"]
    asks[-1] += " that leaves later on that day and still has seats."
    plan = new_plan(scene, pair, second)
    key = [first.legs[0].flight.number, day.isoformat(), "economy"]
    if scene.level == 1:
        scene.options["sold_out"] = [key]
    else:
        scene.options["vanishing"] = [key]
        tries = [*select(scene, first, pair), click("button", "Choose Basic")]
        plan = replace(plan, detour=tuple(tries))
    if scene.level == 3:
        plan = _with_lost_seat(scene, plan, asks)
    asks += [f"Take the Basic fare, no extra bags and no meal{'' if plan.seats else ', and do not choose a seat'}."]
    _forget_first(scene, first)
    solution = _done(scene, plan)
    others = [way for way in ways if way not in (first, second) and scene.steady(way)]
    other = replace(plan, out=pick(scene.random, others), seats=(), lost=())
    prompt = "\n".join([" ".join(asks), particulars(plan)])
    wrong = [_done(scene, other), [ToolCall("report_infeasible", {"reason": f"{named(first)} is sold out"})]]
    return Outcome(prompt, [booked(scene, plan)], solution, wrong)


def infeasible(scene: Scene) -> Outcome:
    """What cannot be had, which has to be said; nothing may be booked instead."""
    if scene.level == 1:
        pair, day = _unserved(scene), scene.today + timedelta(days=scene.random.randrange(5, 50))
        need(not scene.ways(pair, day))
        asks = f"Book a flight from {pair[0]} to {pair[1]} on {said(day)} in economy for one traveller."
        near = pick(scene.random, PAIRS)
        other = scene.today + timedelta(days=scene.random.randrange(5, 50))
    elif scene.level == 2:
        near = pair = pick(scene.random, PAIRS)
        day = scene.today + timedelta(days=DAYS + scene.random.randrange(10, 60))
        asks = f"Book the cheapest non-stop flight from {pair[0]} to {pair[1]} on {said(day)} in economy"
        asks += " for one traveller."
        other = scene.today + timedelta(days=scene.random.randrange(40, DAYS))
    else:
        near = pair = pick(scene.random, PAIRS)
        day = other = scene.today + timedelta(days=scene.random.randrange(5, 50))
        ways = scene.direct(pair, day)
        need(len(ways) > 2)
        limit = ways[0].price // 100 - scene.random.randrange(3, 20)
        asks = (
            f"Book a flight from {pair[0]} to {pair[1]} on {said(day)} in economy for one traveller that costs at most"
        )
        asks += f" ${limit} in all, with or without a stop. The day and the price limit are fixed."
        need(all(way.price > limit * 100 for way in scene.ways(pair, day)))
    plan = new_plan(scene, near, pick(scene.random, [way for way in scene.direct(near, other) if scene.steady(way)]))
    asks += " Take the Basic fare, no seat, no extra bags and no meal."
    asks += " If this cannot be done, report that it is infeasible and book nothing."
    prompt = "\n".join([asks, particulars(plan)])
    report = ToolCall("report_infeasible", {"reason": "the site does not sell this"})
    look = search(pair, day if scene.level != 2 else other)
    checks = [{"check": "infeasible"}, untouched_rows()]
    return Outcome(prompt, checks, [*look, report], [_done(scene, plan), [*book(scene, plan), report]])


def _with_lost_seat(scene: Scene, plan: Plan, asks: list[str]) -> Plan:
    """A seat that somebody takes while one looks, and the rule for another one."""
    leg = plan.out.legs[0]
    free = [seat for seat in scene.seats(leg, "window") if seat.code[-1] == "A"]
    need(len(free) > 2)
    at = scene.random.randrange(len(free) - 1)
    lost, kept = free[at], free[at + 1]
    taken = scene.market.taken(leg, "economy")
    between = [row[0] for row in seats_of(leg.flight.aircraft, "economy") if lost.row < row[0].row < kept.row]  # type: ignore[union-attr]
    need(all(seat and (seat.code in taken) for seat in between))
    scene.options["vanishing"].append([leg.flight.number, leg.day.isoformat(), f"seat/{lost.code}"])
    asks += [f"On the flight that you get, choose seat {lost.code}; if that is taken or somebody takes it first,"]
    asks[-1] += " choose the next free seat with the letter A further back, exit rows included."
    gone = click("button", free_seat(plan.rule, "economy", leg.flight.aircraft, lost.code))
    return replace(plan, seats=((kept.code,),), lost=(gone,))


def _forget_first(scene: Scene, first: Itinerary) -> None:
    """From now on the scene sells what is left when the wanted flight is gone."""
    leg = first.legs[0]
    scene.market.gone = (*scene.market.gone, f"{leg.flight.number}/{leg.day.isoformat()}/economy")


def _unserved(scene: Scene) -> tuple[str, str]:
    """Two cities that no journey of the site connects, on any day."""
    for _ in range(40):
        start, end = scene.random.sample(CITIES, 2)
        week = (scene.today + timedelta(days=ahead) for ahead in range(1, 8))
        if not any(_any_way(scene, (start, end), day) for day in week):
            return start, end
    need(False)
    raise AssertionError("need() has raised")


def _any_way(scene: Scene, pair: tuple[str, str], day: date) -> bool:
    return bool(scene.ways(pair, day))


def _done(scene: Scene, plan: Plan) -> list[ToolCall]:
    return [*book(scene, plan), submit()]
