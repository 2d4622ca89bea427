"""Tasks on the people that somebody books for."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import timedelta

from agent_envs.envs.web.sites.flights._market import MEALS
from agent_envs.envs.web.tasks.flights._plan import Outcome, Plan, book, booked, choose, click, fill, submit
from agent_envs.envs.web.tasks.flights._scene import PAIRS, Person, Scene, cheapest, need, pick, said
from agent_envs.envs.web.tasks.flights._trips import changed, rows, sign_in

from agent_envs.tools import ToolCall


def profile(scene: Scene) -> Outcome:
    """Keep the list of saved travellers up to date."""
    sign_in(scene)
    row, other = scene.random.sample(_saved(scene), 2)
    name, other_name = (f"{one['given_name']} {one['family_name']}" for one in (row, other))
    passport, new = scene.people(1)[0].passport, scene.people(1)[0]
    seat = "window" if row["seat"] != "window" else "aisle"
    prompt = (
        f"Among my saved travellers, {name} has a new passport, {passport}, and now prefers {seat} seats: save that."
    )
    edit = [fill("textbox", "Passport number", passport), choose("Seat preference", seat.title())]
    edit += [click("button", "Save traveller")]
    calls = [*_open_travellers(), click("link", f"Edit {name}"), *edit]
    wanted = [changed("travellers", {"id": row["id"]}, {"passport": passport, "seat": seat})]
    if scene.level > 1:
        prompt += f" Also add a traveller: {new.text}, no seat preference, halal meal."
        calls += _add(new)
        added = {"user_id": scene.user, "given_name": new.given, "family_name": new.family, "birth_date": new.born}
        added |= {"passport": new.passport, "seat": "", "meal": "halal"}
        wanted.append({"table": "travellers", "kind": "added", "where": added})
    if scene.level > 2:
        prompt += f" And remove {other_name} from the list."
        calls += [click("button", f"Remove {other_name}"), click("button", "Yes, remove")]
        wanted.append({"table": "travellers", "kind": "removed", "where": {"id": other["id"]}})
    prompt += " Leave everything else as it is."
    slip = [*_open_travellers(), click("link", f"Edit {other_name}"), *edit, *calls[6:]]
    forgotten = [call for call in calls if call != edit[1]]
    return Outcome(prompt, [rows(wanted)], [*calls, submit()], [[*slip[:6], submit()], [*forgotten, submit()]])


def saved_travellers(scene: Scene) -> Outcome:
    """Book for saved travellers, with what their profiles say."""
    sign_in(scene)
    party = scene.random.sample(_saved(scene), 1 if scene.level == 1 else 2)
    pair, day = pick(scene.random, PAIRS), scene.today + timedelta(days=scene.random.randrange(5, 40))
    way = cheapest(scene.direct(pair, day, count=len(party)))
    need(scene.steady(way) and all(row["seat"] for row in party))
    user = scene.database.execute("SELECT email, phone FROM users WHERE id = ?", [scene.user]).fetchone()
    people = tuple(Person(row["given_name"], row["family_name"], row["birth_date"], row["passport"]) for row in party)
    card, contact = scene.card(people[0].name), (user["email"], user["phone"])
    meals = tuple(row["meal"] for row in party) if scene.level == 3 else ()
    seats = tuple(scene.seat(way.legs[0], row["seat"]) for row in party)
    slips = tuple(scene.seat(way.legs[0], "aisle" if row["seat"] == "window" else "window") for row in party)
    need(len({*seats}) == len({*slips}) == len(party))
    plan = Plan(pair, way, people, card, *contact, fare="Standard", seats=(seats,), meals=meals, saved=True)
    asks = [f"Book the cheapest non-stop flight from {pair[0]} to {pair[1]} on {said(day)} in economy, Standard fare,"]
    asks[0] += f" for {' and '.join(one.name for one in people)} from my saved travellers"
    asks[0] += ", in this order." if len(people) > 1 else "."
    asks += ["Choose for each the kind of seat that the saved preference asks for, not in an exit row."]
    asks += ["Order for each the meal that is saved." if meals else "Order no meal."]
    asks += ["No extra bags. Keep the contact details of the account."]
    check = booked(scene, plan)
    for one in check["wanted"]:
        if one["table"] == "booking_seats":
            number = one["where"]["traveller"]
            one["where"] = {"traveller": number, "kind": party[number - 1]["seat"], "exit_row": 0}
    wrong = [replace(plan, seats=(slips,)), replace(plan, fare="Flex")]
    prompt = "\n".join([" ".join(asks), f"Pay with {card.text}."])
    return Outcome(prompt, [check], _done(scene, plan), [_done(scene, one) for one in wrong])


def _saved(scene: Scene) -> list[sqlite3.Row]:
    found = scene.database.execute("SELECT * FROM travellers WHERE user_id = ? ORDER BY id", [scene.user])
    return found.fetchall()


def _open_travellers() -> list[ToolCall]:
    return [click("link", "My trips"), click("link", "Saved travellers")]


def _add(one: Person) -> list[ToolCall]:
    calls = [click("link", "Add a traveller"), fill("textbox", "Given names", one.given)]
    calls += [fill("textbox", "Family name", one.family), fill("date", "Date of birth", one.born)]
    calls += [fill("textbox", "Passport number", one.passport), choose("Meal", MEALS["halal"])]
    return [*calls, click("button", "Save traveller")]


def _done(scene: Scene, plan: Plan) -> list[ToolCall]:
    return [*book(scene, plan), submit()]
