"""Tasks on what somebody has booked already, and on the people they book for."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from agent_envs.envs.web.sites.flights._market import (
    DAYS,
    USERS,
    BookedLeg,
    Booking,
    Itinerary,
    Seat,
    alternatives,
    change_cost,
    fare_cents,
    find_seat,
    long_day,
    money,
    seat_change_cost,
    seat_name,
)
from agent_envs.envs.web.tasks.flights._plan import Outcome, answered, click, fill, named, submit, untouched_rows
from agent_envs.envs.web.tasks.flights._scene import Scene, need, pick, said

from agent_envs.tools import ToolCall


def change_seat(scene: Scene) -> Outcome:
    """Other seats on a trip that is booked, for one traveller or for all of them."""
    booking = _trip(scene)
    position = scene.random.randrange(len(booking.legs))
    one = booking.legs[position]
    who = [scene.random.randrange(len(booking.travellers))] if scene.level < 3 else range(len(booking.travellers))
    kind = scene.random.choice(("window", "aisle"))
    need(all(_kind(one.leg.flight.aircraft, one.seats.get(number + 1, "")) != kind for number in who))
    fitting, rule = scene.seats(one.leg, kind), ""
    if scene.level == 2:
        row = pick(scene.random, fitting[len(fitting) // 2 :]).row
        fitting, rule = [seat for seat in fitting if seat.row >= row], f" in row {row} or further back"
    need(len(fitting) >= len(who) and (scene.level < 3 or len(who) > 1) and booking.fare.name != "Basic")
    seats = scene.random.sample(fitting, len(who))
    names = " and ".join(booking.travellers[number].name for number in who)
    each = f"each a {kind} seat" if len(who) > 1 else f"{'an' if kind == 'aisle' else 'a'} {kind} seat"
    prompt = f"In my trip {_called(booking)}, give {names} {each}{rule} on flight {one.leg.flight.name}."
    prompt += " Nothing may be charged for it, so keep away from exit rows. Change no other seat."
    wanted = []
    for number in who:
        row_rule = (
            {"row": {"between": [min(seat.row for seat in fitting), 99]}}
            if scene.level == 2
            else {"row": {"any": True}}
        )
        where = {"seat": {"any": True}, "kind": kind, "exit_row": 0, **row_rule}
        key = {"reference": booking.reference, "position": position, "traveller": number + 1}
        if number + 1 in one.seats:
            wanted.append(changed("booking_seats", key, where))
        else:
            wanted.append({"table": "booking_seats", "kind": "added", "where": {**key, **where}})
    calls = [call for number, seat in zip(who, seats, strict=True) for call in _reseat(booking, position, number, seat)]
    other = "aisle" if kind == "window" else "window"
    slip = _reseat(booking, position, who[0], pick(scene.random, scene.seats(one.leg, other)))
    return Outcome(prompt, [rows(wanted)], [*_open(booking), *calls, submit()], [[*_open(booking), *slip, submit()]])


def cancel(scene: Scene) -> Outcome:
    """Cancel what comes back, and say how much that is."""
    sign_in(scene)
    trips = scene.trips()
    refunds = {trip.reference: trip.refund(scene.now) for trip in trips}
    back = [trip for trip in trips if refunds[trip.reference]]
    need(len(back) > 1 and len(back) < len(trips))
    best = max(back, key=lambda trip: refunds[trip.reference])
    if scene.level == 1:
        chosen = [pick(scene.random, back)]
        prompt = f"Cancel my trip {_called(chosen[0])}. Answer with the amount that is refunded."
    elif scene.level == 2:
        chosen = [best]
        need(len({*refunds.values()}) == len(trips))
        prompt = "Of my upcoming trips cancel the one that gives me the largest refund, and no other."
        prompt += " Answer with the amount."
    else:
        chosen = back
        prompt = "Cancel every upcoming trip of mine for which I get money back, and keep the others."
        prompt += " Answer with the sum of all refunds."
    amount = sum(refunds[trip.reference] for trip in chosen)
    wanted: list[dict[str, Any]] = []
    for trip in chosen:
        where = {"status": "cancelled", "refund_cents": refunds[trip.reference]}
        wanted.append(changed("bookings", {"reference": trip.reference}, where))
        paid = {"reference": trip.reference, "kind": "refund", "amount_cents": -refunds[trip.reference]}
        wanted.append({"table": "payments", "kind": "added", "where": paid})
    calls = [call for trip in chosen for call in _cancel(trip)]
    stranger = pick(scene.random, [trip for trip in trips if trip not in chosen])
    paid_back = money(amount)
    wrong = [[*_cancel(stranger), submit(paid_back)], [submit(paid_back)]]
    total = money(sum(trip.total_cents for trip in chosen))
    wrong += [[*calls, submit(total)]] if total != paid_back else []
    return Outcome(prompt, [answered("money", paid_back), rows(wanted)], [*calls, submit(paid_back)], wrong)


def refund_question(scene: Scene) -> Outcome:
    """What would come back, without cancelling."""
    sign_in(scene)
    trips = scene.trips()
    need(trips)
    kept = {trip.reference: trip.total_cents - trip.refund(scene.now) for trip in trips}
    if scene.level == 3:
        amount = sum(trip.refund(scene.now) for trip in trips)
        prompt = "How much money would I get back in all if I cancelled every one of my upcoming trips now?"
        steps, slip = [call for trip in trips for call in _look(trip)], trips[0]
    else:
        slip = pick(scene.random, [trip for trip in trips if trip.refund(scene.now)])
        amount = slip.refund(scene.now) if scene.level == 1 else kept[slip.reference]
        asks = "get back" if scene.level == 1 else "lose (what I paid minus what comes back)"
        prompt = f"How much money would I {asks} if I cancelled my trip {_called(slip)} now?"
        steps = _look(slip)
    prompt += " Do not cancel anything; answer with the amount."
    need(amount)
    answer = money(amount)
    wrong = [[*_cancel(slip), submit(answer)], [submit(money(amount + 6000))]]
    return Outcome(prompt, [answered("money", answer), untouched_rows()], [*steps, submit(answer)], wrong)


def change_day(scene: Scene) -> Outcome:
    """Move one journey to another day, as cheaply as that goes."""
    booking = _trip(scene)
    need(booking.fare.change_cents >= 0)
    direction = scene.random.choice(booking.directions)
    day, old = _other_day(scene, booking, direction), booking.way(direction)[0]
    ways = alternatives(scene.market, booking, direction, day)
    costs = {way.key: change_cost(booking, direction, _fares(scene, booking, way)) for way in ways}
    ways.sort(key=lambda way: costs[way.key])
    need(len(ways) > 1)
    way = ways[0] if scene.level > 1 else pick(scene.random, ways)
    need(scene.level == 1 or costs[way.key] < costs[ways[1].key])
    rule = f"flight {named(way)}" if scene.level == 1 else "the flight for which the change costs me least"
    prompt = f"Move the {direction} journey of my trip {_called(booking)} to {said(day)}: take {rule}."
    wanted, cost = _moved_rows(scene, booking, old, way, costs[way.key]), costs[way.key]
    calls = [*_open(booking), *_move(direction, day.isoformat(), way)]
    if scene.level == 3:
        prompt += " Then give every traveller of it a new seat on that flight, any one that costs nothing."
        seats = scene.random.sample(scene.seats(way.legs[0]), len(booking.travellers))
        for number, seat in enumerate(seats):
            calls += _reseat(booking, old.position, number, seat, way)
        check = {"check": "any", "of": [rows(one) for one in _with_new_seats(booking, old, wanted)]}
    else:
        prompt += " Do not choose new seats."
        check = rows(wanted)
    prompt += " Answer with what the change of date costs in all (0 if nothing)."
    answer = money(cost)
    slip = pick(scene.random, [one for one in ways if one.key != way.key])
    wrong = [[*_open(booking), *_move(direction, day.isoformat(), slip), submit(answer)], [submit(answer)]]
    return Outcome(prompt, [answered("money", answer), check], [*calls, submit(answer)], wrong)


def sign_in(scene: Scene) -> None:
    """Let somebody with an account be signed in."""
    scene.user = scene.random.choice(USERS)


def rows(wanted: list[dict[str, Any]]) -> dict[str, Any]:
    """The check that these rows changed and no others did."""
    return {"check": "rows", "host": "flights.test", "wanted": wanted}


def changed(table: str, before: dict[str, Any], where: dict[str, Any]) -> dict[str, Any]:
    """A changed row."""
    return {"table": table, "kind": "changed", "where_before": before, "where": where}


def _trip(scene: Scene) -> Booking:
    sign_in(scene)
    found: Booking = pick(scene.random, scene.trips())
    return found


def _called(booking: Booking) -> str:
    """A trip as its owner speaks of it."""
    first = booking.legs[0].leg
    return f"from {first.from_city} to {first.to_city} on {long_day(first.day)}"


def _open(booking: Booking) -> list[ToolCall]:
    return [click("link", "My trips"), click("link", f"{booking.title}, {booking.reference}")]


def _look(booking: Booking) -> list[ToolCall]:
    return [*_open(booking), click("link", "Cancel this booking")]


def _cancel(booking: Booking) -> list[ToolCall]:
    return [*_look(booking), click("button", "Cancel booking"), click("button", "Yes, cancel it")]


def _reseat(booking: Booking, position: int, number: int, seat: Seat, way: Itinerary | None = None) -> list[ToolCall]:
    """From the page of a trip to a new seat for one traveller, on the flight that is booked or on a new one."""
    one = next(one for one in booking.legs if one.position == position)
    flight = way.legs[0].flight if way else one.leg.flight
    had = "no seat yet" if way else one.seats.get(number + 1, "no seat yet")
    name = booking.travellers[number].name
    calls = [click("link", f"Change seats on {flight.name}")]
    calls += [ToolCall("check", {"element_id": f'radio "{name} ({had})"'})]
    calls += [click("button", seat_name(seat, "available", seat_change_cost(booking, seat)))]
    return [*calls, click("button", f"Confirm seat {seat.code}")]


def _other_day(scene: Scene, booking: Booking, direction: str) -> date:
    """A day to which a journey can be moved."""
    legs = {one.direction: one.leg for one in booking.legs}
    day = legs[direction].day + timedelta(days=scene.random.choice((-2, -1, 1, 2, 3, 4)))
    need(scene.today < day < scene.today + timedelta(days=DAYS))
    if direction == "outbound" and "return" in legs:
        need(day <= legs["return"].day)
    if direction == "return":
        need(day >= legs["outbound"].arrives.date())
    return day


def _move(direction: str, day: str, way: Itinerary) -> list[ToolCall]:
    calls = [click("link", f"Change {direction} date"), fill("date", "New date", day), click("button", "Show flights")]
    return [*calls, click("link", f"Select {named(way)}"), click("button", "Confirm change")]


def _moved_rows(scene: Scene, booking: Booking, old: BookedLeg, way: Itinerary, cost: int) -> list[dict[str, Any]]:
    """What moving a journey changes: the flight, the seats that are given up, and what is paid."""
    leg, key = way.legs[0], {"reference": booking.reference, "position": old.position}
    where: dict[str, Any] = {"flight": leg.flight.number, "airline": leg.flight.airline, "date": leg.day.isoformat()}
    where |= {"origin": leg.flight.origin, "destination": leg.flight.destination, "departs": f"{leg.departs:%H:%M}"}
    where |= {"arrives": leg.arrives.isoformat(timespec="minutes"), "fare_cents": _fares(scene, booking, way)[0]}
    found = [changed("booking_flights", key, where)]
    for number in old.seats:
        found.append({"table": "booking_seats", "kind": "removed", "where": {**key, "traveller": number}})
    if cost:
        found.append(changed("bookings", {"reference": booking.reference}, {"total_cents": booking.total_cents + cost}))
        found.append({"table": "payments", "kind": "added", "where": {"kind": "change", "amount_cents": cost}})
    return found


def _fares(scene: Scene, booking: Booking, way: Itinerary) -> list[int]:
    return [fare_cents(scene.market.price(leg, booking.cabin), booking.fare) for leg in way.legs]


def _with_new_seats(booking: Booking, old: BookedLeg, wanted: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """What is wanted where everybody has a seat again; who takes the same as before leaves no trace of it."""
    found = [[one for one in wanted if one["table"] != "booking_seats"]]
    seat: dict[str, Any] = {"seat": {"any": True}, "kind": {"any": True}, "row": {"any": True}, "exit_row": 0}
    for number in range(1, len(booking.travellers) + 1):
        key: dict[str, Any] = {"reference": booking.reference, "position": old.position, "traveller": number}
        if number in old.seats:
            found = [*found, *([*one, changed("booking_seats", key, seat)] for one in found)]
        else:
            found = [
                [*one, {"table": "booking_seats", "kind": "added", "where": {**key, "exit_row": 0}}] for one in found
            ]
    return found


def _kind(aircraft: str, code: str) -> str:
    seat = find_seat(aircraft, "economy", code)
    return seat.kind if seat else ""
