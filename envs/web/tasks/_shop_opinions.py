"""Tasks at the shop about what somebody thinks and wishes: reviews and the wish list."""

from __future__ import annotations

from agent_envs.envs.web.sites.shop._shelf import Item
from agent_envs.envs.web.tasks._shop_scene import Row, Scene, changes, in_cart, row, show, take
from agent_envs.envs.web.tasks._template import Calls, Chance, Draft, Unsuitable, check, click, fill, submit


def review(random: Chance, level: str) -> Draft:
    """Publish a review of a product: named, or to be found among the orders."""
    scene = Scene(random)
    stars = random.randrange(1, 6)
    title, body = random.choice(_OPINIONS)
    which, line, other = _to_review(scene, level)
    shelf = {one.id: one for one in scene.items()}
    item = shelf[line["product"]]
    prompt = f"Write a review of {which}: {_stars(stars)}, with the headline “{title}” and the text “{body}”."

    def written(item: Item, stars: int) -> Calls:
        return (
            *show(item), check("radio", _stars(stars)), fill("textbox", "Headline", title),
            fill("textbox", "What do you think?", body), click("button", "Publish review"), submit(),
        )  # fmt: skip

    wanted = {"product": item.id, "user": scene.me, "stars": stars, "title": title, "body": body}
    wrong = [
        written(shelf[other["product"]], stars),
        written(item, stars % 5 + 1),
        (*written(item, stars)[:-2], submit()),
    ]
    look: Calls = (click("link", "Orders"),) if level != "easy" else ()
    return scene.draft(prompt, [changes(row("reviews", "added", wanted))], (*look, *written(item, stars)), wrong)


def _to_review(scene: Scene, level: str) -> tuple[str, Row, Row]:
    """What is asked for, the line of an order that is meant, and one that is not."""
    lines = scene.bought("delivered")
    line = scene.one(lines)
    which = f"the {line['name']}"
    if level == "medium":
        in_order = [one for one in lines if one["order_number"] == line["order_number"]]
        if len(in_order) < 2:
            raise Unsuitable
        line = max(in_order, key=lambda one: one["cents"])
        which = f"the product with the highest price in my order {line['order_number']}"
    elif level == "hard":
        newest = max(one["delivered"] for one in lines)
        last = [one for one in lines if one["delivered"] == newest]
        if len({one["order_number"] for one in last}) > 1 or len(last) < 2:
            raise Unsuitable
        line = min(last, key=lambda one: one["cents"])
        which = "the product with the lowest price in the order that was delivered to me last"
    others = [one for one in lines if one["product"] != line["product"]]
    if any(one["order_number"] == line["order_number"] and one["cents"] == line["cents"] for one in others):
        raise Unsuitable
    return which, line, scene.one(others)


def wish_list(random: Chance, level: str) -> Draft:
    """Change the wish list."""
    scene = Scene(random)
    wished = scene.wished()
    item, other = scene.pick([one for one in scene.items() if one not in wished], 2)
    come = row("wishes", "added", {"user": scene.me, "product": item.id})
    if level == "easy":
        prompt = f"Put the {item.name} on my wish list."
        wrong: list[Calls] = [(*show(other), _ADD, submit()), (*show(item), _ADD, *show(other), _ADD, submit())]
        return scene.draft(prompt, [changes(come)], (*show(item), _ADD, submit()), wrong)
    if wished[-1].cents == wished[-2].cents or wished[0].cents == wished[1].cents:
        raise Unsuitable
    if level == "hard":
        return _granted(scene, wished)
    gone = row("wishes", "removed", {"user": scene.me, "product": wished[-1].id})
    prompt = f"Remove the most expensive product from my wish list and put the {item.name} on it instead."
    right, slip = ((_OPEN, click("button", f"Remove {one.name}")) for one in (wished[-1], wished[0]))
    wrong = [(*slip, *show(item), _ADD, submit()), (*right, submit())]
    return scene.draft(prompt, [changes(gone, come)], (*right, *show(item), _ADD, submit()), wrong)


def _granted(scene: Scene, wished: list[Item]) -> Draft:
    """The cheapest wish comes true."""
    cheapest, dearest = wished[0], wished[-1]
    versions = [one["id"] for one in scene.versions(cheapest)]
    if not versions or not dearest.stock:
        raise Unsuitable
    prompt = (
        "Put the cheapest product of my wish list into the cart (one of it, any version) and take it off the wish list."
        " Leave the rest of the wish list as it is."
    )

    def granted(item: Item) -> Calls:
        return (_OPEN, click("link", item.name), *take(item), click("button", "Remove from wish list"), submit())

    gone = row("wishes", "removed", {"user": scene.me, "product": cheapest.id})
    checks = [changes(in_cart(scene.me, versions), gone)]
    wrong = [(*granted(cheapest)[:-2], submit()), granted(dearest)]
    return scene.draft(prompt, checks, granted(cheapest), wrong)


_ADD, _OPEN = click("button", "Add to wish list"), click("link", "Wish list")


def _stars(number: int) -> str:
    return f"{number} star{'s' * (number > 1)}"


_OPINIONS = (
    ("Does its job", "I have used it every day for two weeks and found no fault."),
    ("Not quite", "It works, but the instructions are hard to follow."),
    ("A pleasant surprise", "Smaller than I thought, and better in every other way."),
    ("Think twice", "The price is right. The quality is not."),
)


TEMPLATES = {"review": review, "wish_list": wish_list}
"""By name."""
