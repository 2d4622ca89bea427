"""Tasks that end in an answer and change nothing."""

from __future__ import annotations

from datetime import date, timedelta

from agent_envs.envs.web.sites.flights._market import (
    CABINS,
    Itinerary,
    airports_of,
    fare_cents,
    fare_of,
    lowest_prices,
    money,
)
from agent_envs.envs.web.tasks.flights._plan import (
    Outcome,
    answered,
    choose,
    click,
    fill,
    named,
    search,
    submit,
    untouched_rows,
)
from agent_envs.envs.web.tasks.flights._scene import CONNECTIONS, PAIRS, Scene, cheapest, need, pick, said

from agent_envs.tools import ToolCall


def lowest_price(scene: Scene) -> Outcome:
    """What the cheapest flight costs."""
    pair, cabin = pick(scene.random, PAIRS), scene.random.choice(("economy", "business"))
    day = scene.today + timedelta(days=scene.random.randrange(3, 50))
    count = 1 if scene.level == 1 else scene.random.randrange(2, 5)
    way = cheapest(scene.direct(pair, day, cabin, count))
    need(scene.steady(way, cabin))
    fare = "Standard" if scene.level > 1 or cabin == "business" else "Basic"
    cents, calls = _price(way, scene, cabin, fare) * count, search(pair, day, None, count, cabin)
    asks = f"How much does the cheapest non-stop flight from {pair[0]} to {pair[1]} on {said(day)} cost in {cabin}"
    asks += f" for {count} traveller{'s' if count > 1 else ''} with the {fare} fare, one way, without seats and extras?"
    slip = _price(way, scene, cabin, "Flex") * count
    if scene.level == 3:
        back_day = day + timedelta(days=scene.random.randrange(2, 9))
        back = cheapest(scene.direct(pair[::-1], back_day, cabin, count))
        need(scene.steady(back, cabin) and back.legs[0].departs > way.legs[0].arrives + timedelta(hours=1))
        cents, slip = cents + _price(back, scene, cabin, fare) * count, cents
        asks = f"{count} travellers fly from {pair[0]} to {pair[1]} on {said(day)} and back on {said(back_day)}, in"
        asks += (
            f" {cabin} with the {fare} fare, without seats and extras. How much do the cheapest non-stop flights cost"
        )
        asks += " in all, for everybody and both ways?"
        calls = search(pair, day, back_day, count, cabin)
    prompt = f"{asks} Answer with the amount; book nothing."
    return _question(prompt, answered("money", money(cents)), calls, money(cents), money(slip))


def best_day(scene: Scene) -> Outcome:
    """The day on which a flight is cheapest."""
    pair = pick(scene.random, PAIRS)
    cabin = "business" if scene.level == 3 else "economy"
    months = {(scene.today + timedelta(days=ahead)).replace(day=1) for ahead in range(45)}
    month = pick(scene.random, sorted(months))
    prices = lowest_prices(scene.market, airports_of(pair[0]), airports_of(pair[1]), cabin, month)
    first, what = month, f"in {month:%B %Y}"
    if scene.level > 1:
        weekday = scene.random.randrange(5, 7)
        prices = {day: cents for day, cents in prices.items() if day.weekday() == weekday}
        what = f"among the {'Saturdays' if weekday == 5 else 'Sundays'} of {month:%B %Y}"
    sold = sorted((cents, day) for day, cents in prices.items() if cents)
    need(len(sold) > 1 and sold[0][0] < sold[1][0])
    answer, slip = sold[0][1], sold[1][1]
    prompt = f"On which day {what} is the cheapest non-stop {cabin} flight from {pair[0]} to {pair[1]} to be had,"
    prompt += " of the days that are on sale? Answer with the date (such as 2026-03-31); book nothing."
    calls = [click("link", "Price calendar"), fill("combobox", "From", pair[0]), fill("combobox", "To", pair[1])]
    calls += [choose("Class", CABINS[cabin])] if cabin != "economy" else []
    calls += [click("button", "Show prices")]
    calls += [click("link", f"{first:%B %Y}")] if first != scene.today.replace(day=1) else []
    return _question(prompt, answered("date", answer.isoformat()), calls, answer.isoformat(), slip.isoformat())


def timetable(scene: Scene) -> Outcome:
    """A fact of the timetable: a time, a number, a city."""
    day = scene.today + timedelta(days=scene.random.randrange(3, 50))
    if scene.level == 3:
        return _shortest_connection(scene, day)
    pair = pick(scene.random, PAIRS)
    ways = sorted(scene.direct(pair, day), key=lambda way: way.legs[0].departs)
    need(len(ways) > 2)
    calls = search(pair, day)
    if scene.level == 1:
        latest = [way for way in ways if way.legs[0].departs == ways[-1].legs[0].departs]
        need(len(latest) == 1 and ways[-1].legs[0].arrives.date() == day)
        answer = f"{ways[-1].legs[0].arrives:%H:%M}"
        prompt = f"At what time does the last non-stop flight of {said(day)} from {pair[0]} to {pair[1]} that still has"
        prompt += " economy seats arrive? Answer with the local time, such as 14:05; book nothing."
        slip = f"{ways[-1].legs[0].departs:%H:%M}"
        return _question(prompt, answered("time", answer), calls, answer, slip)
    limit = pick(scene.random, ways[1:]).price
    number = sum(way.price <= limit for way in ways)
    prompt = f"How many non-stop flights from {pair[0]} to {pair[1]} on {said(day)} can be had in economy"
    prompt += f" for {money(limit)} or less per traveller? Answer with the number; book nothing."
    return _question(prompt, answered("number", number), calls, str(number), str(number + 1))


def _shortest_connection(scene: Scene, day: date) -> Outcome:
    pair = pick(scene.random, CONNECTIONS)
    ways = sorted((way for way in scene.ways(pair, day) if way.stops), key=lambda way: way.minutes)
    need(len(ways) > 1 and ways[0].minutes < ways[1].minutes)
    best = ways[0]
    others = [way for way in ways if way.legs[0].to_city != best.legs[0].to_city]
    prompt = f"Of all journeys from {pair[0]} to {pair[1]} on {said(day)} in economy that have one stop and free seats,"
    prompt += " which takes the least time in all? Answer with the two flight numbers, such as JW 101, ST 205;"
    prompt += " book nothing."
    names = [leg.flight.name for leg in best.legs]
    check = answered("list", names, of={"type": "text"})
    return _question(prompt, check, search(pair, day), ", ".join(names), named(pick(scene.random, others)))


def _price(way: Itinerary, scene: Scene, cabin: str, fare: str) -> int:
    rule = fare_of(cabin, fare)
    assert rule is not None  # named above
    return sum(fare_cents(scene.market.price(leg, cabin), rule) for leg in way.legs)


def _question(prompt: str, check: dict[str, object], calls: list[ToolCall], answer: str, slip: str) -> Outcome:
    need(answer != slip)
    return Outcome(prompt, [check, untouched_rows()], [*calls, submit(answer)], [[*calls, submit(slip)], [submit()]])
