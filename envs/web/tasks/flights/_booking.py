"""Tasks that end in one new booking."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from agent_envs.envs.web.sites.flights._market import AIRLINES, FARES, MEALS, Itinerary, seats_of
from agent_envs.envs.web.tasks.flights._plan import Outcome, Plan, book, booked, named, submit
from agent_envs.envs.web.tasks.flights._scene import (
    CONNECTIONS,
    PAIRS,
    Person,
    Scene,
    cheapest,
    need,
    pick,
    said,
)

PARTS = {"morning": ("00:00", "11:59"), "afternoon": ("12:00", "17:59"), "evening": ("18:00", "23:59")}
_HOURS = {"morning": "before 12:00", "afternoon": "from 12:00 to 17:59", "evening": "at 18:00 or later"}
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ORDINALS = ("first", "second", "third")
_COUNTS = {2: "two", 3: "three"}


def next_tuesday(scene: Scene) -> Outcome:
    """Book a flight from Beijing to Shanghai, next Tuesday afternoon, window seat, economy."""
    pair, day = ("Beijing", "Shanghai"), scene.next(1)
    inside = [way for way in scene.direct(pair, day) if way.part == "afternoon" and scene.steady(way)]
    way = cheapest(inside) if scene.level > 1 else pick(scene.random, inside)
    fare = ("Basic", "Standard", "Flex")[scene.level - 1]
    plan = new_plan(scene, pair, way, fare=fare, seats=((scene.seat(way.legs[0], "window"),),))
    if scene.level == 3:
        plan = replace(plan, bags=(1,), meals=("vegetarian",))
    asks = ["Book a flight from Beijing to Shanghai, next Tuesday afternoon, window seat, economy."]
    asks += [f"That is the first Tuesday after today, with a non-stop departure {_HOURS['afternoon']}."]
    asks += ["Of these flights take the cheapest one."] if scene.level > 1 else []
    asks += [_fare_and_extras(plan), "The window seat may be any one that is not in an exit row."]
    loose: dict[str, Any] = {"seat": {"kind": "window", "exit_row": 0}}
    if scene.level == 1:
        loose |= {"flight": {"departs": {"between": list(PARTS["afternoon"])}}, "total_cents": {"any": True}}
    later = [one for one in scene.direct(pair, day + timedelta(days=7)) if one.part == "afternoon"]
    early = [one for one in scene.direct(pair, day) if one.part == "morning"]
    others = [_moved(scene, plan, pick(scene.random, ways)) for ways in (later, early)]
    others.append(replace(plan, seats=((scene.seat(way.legs[0], "aisle"),),)))
    others.append(replace(plan, card=replace(plan.card, name=plan.email)))
    rest = [seat.code for seat in scene.seats(way.legs[0], "window") if seat.code != plan.seats[0][0]]
    again = replace(plan, seats=((pick(scene.random, rest),),))
    wrong = [_done(scene, other) for other in others if other] + [[*book(scene, plan), *_done(scene, again)]]
    return _outcome(scene, plan, asks, wrong, **loose)


def return_trip(scene: Scene) -> Outcome:
    """A way out and a way back, each in its part of the day."""
    pair = pick(scene.random, PAIRS)
    day = scene.today + timedelta(days=scene.random.randrange(5, 30))
    nights = scene.random.randrange(2, 12)
    parts = scene.random.sample(list(PARTS), 2)
    ways = [
        [way for way in scene.direct(where, when) if way.part == part and scene.steady(way)]
        for where, when, part in ((pair, day, parts[0]), (pair[::-1], day + timedelta(days=nights), parts[1]))
    ]
    need(all(ways))
    out, back = (cheapest(found) if scene.level > 1 else pick(scene.random, found) for found in ways)
    plan = new_plan(scene, pair, out, back=back, fare="Standard")
    asks = [f"Book a return trip from {pair[0]} to {pair[1]} in economy for one traveller, non-stop both ways."]
    asks += [f"Out on {said(day)} in the {parts[0]} (departure {_HOURS[parts[0]]}),"]
    asks[-1] += f" back {nights} nights later in the {parts[1]} (departure {_HOURS[parts[1]]})."
    asks += ["Each way take the cheapest of these flights."] if scene.level > 1 else []
    loose: dict[str, Any] = {}
    if scene.level == 1:
        loose = {"flight": {"departs": {"between": _hull(parts)}}, "total_cents": {"any": True}}
    if scene.level == 3:
        plan = replace(plan, seats=tuple((scene.seat(way.legs[0], "aisle"),) for way in (out, back)))
        loose = {"seat": {"kind": "aisle", "exit_row": 0}}
        asks += ["Choose an aisle seat on both flights, not in an exit row."]
    asks += [_fare_and_extras(plan)]
    longer = _moved(scene, plan, back_days=1)
    single = replace(plan, back=None, seats=plan.seats[:1])
    outcome = _outcome(scene, plan, asks, [_done(scene, one) for one in (longer, single) if one], **loose)
    if scene.level == 1:
        _each_in_its_part(outcome, parts)
    return outcome


def group(scene: Scene) -> Outcome:
    """Several travellers side by side, on a flight that is named or that has to be found."""
    count = min(scene.level + 1, 3)
    pair = pick(scene.random, PAIRS)
    day = scene.today + timedelta(days=scene.random.randrange(6, 40))
    ways = scene.direct(pair, day, count=count)
    way = cheapest(ways) if scene.level == 3 else pick(scene.random, ways)
    need(scene.steady(way))
    blocks = _blocks(scene, way, count)
    block = pick(
        scene.random, [one for one in blocks if not any(scene.market.is_ghost(way.legs[0], code) for code in one)]
    )
    fare = scene.random.choice(("Standard", "Flex"))
    plan = new_plan(scene, pair, way, count=count, fare=fare, seats=(block,))
    flight = "the cheapest non-stop flight" if scene.level == 3 else f"flight {named(way)}"
    asks = [f"Book {flight} from {pair[0]} to {pair[1]} on {said(day)} in economy"]
    asks[0] += f" for {_COUNTS[count]} travellers."
    asks += ["They must sit directly beside each other in the same row, without an aisle or anybody else between them,"]
    asks[-1] += " and not in an exit row. Who of them has which of these seats does not matter."
    asks += [_fare_and_extras(plan), "Enter the travellers in the order in which they are listed."]
    apart = [seat.code for seat in scene.seats(way.legs[0])]
    split = pick(scene.random, [code for code in apart if not any({code, *block[1:]} <= set(one) for one in blocks)])
    single = replace(plan, people=plan.people[:1], seats=((block[0],),))
    outcome = _outcome(
        scene, plan, asks, [_done(scene, replace(plan, seats=((split, *block[1:]),))), _done(scene, single)]
    )
    checks = [booked(scene, plan, seat={"seat": {"in": list(one)}}) for one in blocks]
    outcome.checks = [{"check": "any", "of": checks}]
    return outcome


def connection(scene: Scene) -> Outcome:
    """A journey with one stop that is long enough and not too long."""
    pair = pick(scene.random, CONNECTIONS)
    day = scene.today + timedelta(days=scene.random.randrange(6, 40))
    least, most = scene.random.choice(((60, 180), (120, 300), (180, 420)))
    ways = [way for way in scene.ways(pair, day) if way.stops == 1 and least <= way.layovers[0] <= most]
    asks = [
        f"Book a journey from {pair[0]} to {pair[1]} on {said(day)} in economy for one traveller, with exactly one stop"
    ]
    asks[0] += f" that lasts at least {least // 60} and at most {most // 60} hours."
    if scene.level > 1:
        latest = pick(scene.random, ways).legs[0].departs
        ways = [way for way in ways if way.legs[0].departs <= latest]
        asks += [f"It must leave {pair[0]} at {latest:%H:%M} or earlier."]
    if scene.level > 2:
        city = pick(scene.random, ways).legs[0].to_city
        ways = [way for way in ways if way.legs[0].to_city != city]
        asks += [f"It must not stop in {city}."]
    way = cheapest(ways)
    need(scene.steady(way))
    plan = new_plan(scene, pair, way)
    asks += ["Of all such journeys take the cheapest one.", _fare_and_extras(plan)]
    others = [one for one in scene.ways(pair, day) if one.key != way.key and one.stops == 1 and scene.steady(one)]
    cheaper = next((one for one in others if one not in ways), pick(scene.random, others))
    return _outcome(scene, plan, asks, [_done(scene, replace(plan, out=cheaper))])


def criteria(scene: Scene) -> Outcome:
    """The one flight that meets several wishes at once."""
    pair = pick(scene.random, PAIRS)
    day = scene.today + timedelta(days=scene.random.randrange(4, 45))
    cabin = "business" if scene.level == 3 else "economy"
    ways = scene.direct(pair, day, cabin)
    airline = pick(scene.random, ways).legs[0].flight.airline
    fitting = [way for way in ways if way.legs[0].flight.airline == airline]
    asks = [f"Book a non-stop flight with {AIRLINES[airline].name} from {pair[0]} to {pair[1]} on {said(day)}"]
    asks[0] += f" in {cabin} for one traveller."
    need(len(fitting) > 1)
    if scene.level > 1:
        limit = pick(scene.random, [way.legs[0].arrives for way in fitting if way.legs[0].arrives.date() == day])
        fitting = [way for way in fitting if way.legs[0].arrives <= limit]
        asks += [f"It must arrive on the same day, at {limit:%H:%M} or earlier."]
        earliest = pick(scene.random, fitting).legs[0].departs
        fitting = [way for way in fitting if way.legs[0].departs >= earliest]
        asks += [f"It must not leave before {earliest:%H:%M}."]
    way = cheapest(fitting)
    need(scene.steady(way, cabin))
    plan = new_plan(scene, pair, way, cabin=cabin, fare=FARES[cabin][0].name)
    asks += ["If several flights fit, take the cheapest one.", _fare_and_extras(plan)]
    others = [one for one in ways if one.key != way.key and scene.steady(one, cabin)]
    return _outcome(scene, plan, asks, [_done(scene, replace(plan, out=pick(scene.random, others)))])


def dates(scene: Scene) -> Outcome:
    """A day that has to be worked out."""
    weekday, nth = scene.random.randrange(7), scene.random.randrange(1, 3)
    if scene.level == 1:
        ahead = scene.random.randrange(9, 40)
        day, words = scene.today + timedelta(days=ahead), f"exactly {ahead} days from today"
    elif scene.level == 2:
        day = scene.next(weekday) + timedelta(days=7 * nth)
        words = f"on the {_ORDINALS[nth]} {_WEEKDAYS[weekday]} after today"
    else:
        last = _month_end(scene.today)
        day = last - timedelta(days=(last.weekday() - weekday) % 7)
        words = f"on the last {_WEEKDAYS[weekday]} of next month"
    pair = pick(scene.random, PAIRS)
    way = cheapest(scene.direct(pair, day))
    need(scene.steady(way))
    plan = new_plan(scene, pair, way, fare=scene.random.choice(("Basic", "Standard")))
    asks = [f"Book the cheapest non-stop flight from {pair[0]} to {pair[1]} in economy for one traveller, {words}."]
    asks += [_fare_and_extras(plan)]
    others = [_moved(scene, plan, days=days) for days in (1, -7, 7)]
    return _outcome(scene, plan, asks, [_done(scene, other) for other in others if other])


def new_plan(scene: Scene, pair: tuple[str, str], out: Itinerary, *, count: int = 1, **rest: Any) -> Plan:
    """A plan for strangers, with a card and an address drawn for them."""
    people = scene.people(count)
    email = f"{people[0].given}.{people[0].family}@mail.test".lower()
    digits = [scene.random.randrange(*ends) for ends in ((20, 99), (100, 1000), (1000, 10000))]
    phone = f"+{digits[0]} 555 {digits[1]} {digits[2]}"
    return Plan(pair, out, people, scene.card(people[0].name), email, phone, **rest)


def _outcome(scene: Scene, plan: Plan, asks: list[str], wrong: list[list[Any]], **loose: Any) -> Outcome:
    prompt = "\n".join([" ".join(asks), particulars(plan)])
    need(wrong)
    return Outcome(prompt, [booked(scene, plan, **loose)], _done(scene, plan), wrong)


def particulars(plan: Plan) -> str:
    """Who travels, and who pays with what."""
    return "\n".join(
        [*_list_people(plan.people), f"Contact: {plan.email}, {plan.phone}.", f"Pay with {plan.card.text}."]
    )


def _list_people(people: tuple[Person, ...]) -> list[str]:
    return [f"Traveller {number}: {one.text}." for number, one in enumerate(people, 1)]


def _fare_and_extras(plan: Plan) -> str:
    bags, meal = plan.bag(0), plan.meal(0)
    extras = [
        f"{bags} extra checked bag" if bags else "no extra bags",
        f"a {MEALS[meal].lower()}" if meal != "none" else "no meal",
    ]
    seats = "" if plan.seats else " and do not choose a seat"
    return f"Take the {plan.fare} fare, with {extras[0]} and {extras[1]}{seats}."


def _done(scene: Scene, plan: Plan) -> list[Any]:
    return [*book(scene, plan), submit()]


def _moved(scene: Scene, plan: Plan, out: Itinerary | None = None, *, days: int = 0, back_days: int = 0) -> Plan | None:
    """The plan with another flight, or with one on another day; with seats of the same kind there."""
    back = plan.back
    if days or back_days:
        where, way = (plan.pair, plan.out) if days else (plan.pair[::-1], plan.back or plan.out)
        day: date = way.legs[0].day + timedelta(days=days or back_days)
        found = [one for one in scene.direct(where, day, plan.cabin) if scene.steady(one, plan.cabin)]
        if not found:
            return None
        out, back = (found[0], back) if days else (plan.out, found[0])
    if out is None or not scene.steady(out, plan.cabin):
        return None
    ways = [out, *([back] if back else [])]
    kinds = [scene.seat(way.legs[0], "window") for way in ways] if plan.seats else []
    return replace(plan, out=out, back=back, seats=tuple((code,) for code in kinds))


def _blocks(scene: Scene, way: Itinerary, count: int) -> list[tuple[str, ...]]:
    """Free seats side by side, without an aisle between them."""
    leg = way.legs[0]
    taken = scene.market.taken(leg, "economy")
    found = []
    for row in seats_of(leg.flight.aircraft, "economy"):
        for start in range(len(row) - count + 1):
            part = row[start : start + count]
            if all(seat and seat.code not in taken and not seat.exit_row for seat in part):
                found.append(tuple(seat.code for seat in part if seat))
    return found


def _each_in_its_part(outcome: Outcome, parts: list[str]) -> None:
    """Demand of each journey its own part of the day."""
    legs = [row for row in outcome.checks[0]["wanted"] if row["table"] == "booking_flights"]
    for leg, part in zip(legs, parts, strict=True):
        leg["where"] = {**leg["where"], "departs": {"between": list(PARTS[part])}}


def _hull(parts: list[str]) -> list[str]:
    return [min(PARTS[part][0] for part in parts), max(PARTS[part][1] for part in parts)]


def _month_end(today: date) -> date:
    """The last day of next month."""
    after_next = today.month + 2
    return date(today.year + (after_next - 1) // 12, (after_next - 1) % 12 + 1, 1) - timedelta(days=1)
