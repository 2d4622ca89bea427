"""Tasks at the shop that cannot be done, where saying so is the right end and anything else is not."""

from __future__ import annotations

from agent_envs.envs.web.sites.shop._categories import categories
from agent_envs.envs.web.tasks._shop_scene import Scene, changes, narrowed, put, search
from agent_envs.envs.web.tasks._template import Calls, Chance, Draft, Unsuitable, click, give_up, submit

_SAY = "If it cannot be done, report that it is infeasible instead of doing something similar."


def infeasible(random: Chance, level: str) -> Draft:
    """A product that does not exist, one that is cheaper than everything, or a return that comes too late."""
    scene = Scene(random)
    if level == "hard":
        return _too_late(scene)
    kind = scene.one(categories())
    shelf = scene.items(kind.slug)
    stocked = [one for one in shelf if one.stock]
    if level == "easy":
        like = scene.one(stocked)
        brand = scene.one([one for other in categories() for one in other.brands if one not in kind.brands])
        name = like.name.replace(like.brand, brand)
        if scene.rows("SELECT 1 FROM products WHERE name = ?", name):
            raise Unsuitable
        prompt = f"Put one {name} (any version) into the cart. {_SAY}"
        looked: Calls = (search(name),)
        nearest = like
    else:
        nearest = min(stocked, key=lambda one: one.cents)
        limit = min(one.cents for one in shelf) // 100 - 1
        prompt = f"Put one of the {kind.name.lower()} that cost at most ${limit} into the cart. {_SAY}"
        looked = narrowed(scene, kind.slug, [], sort="cheap")
    checks = [{"check": "infeasible"}, changes()]
    wrong = [(*put(nearest), submit()), (*looked, submit()), (*put(nearest), give_up("there is none"))]
    return scene.draft(prompt, checks, (*looked, give_up("There is no such product.")), wrong)


def _too_late(scene: Scene) -> Draft:
    orders = scene.rows("SELECT * FROM orders WHERE user = ? AND status = 'delivered' ORDER BY placed", scene.me)
    order = orders[0]
    item = scene.rows(
        "SELECT p.name FROM order_items i JOIN variants v ON v.id = i.variant JOIN products p ON p.id = v.product"
        " WHERE i.order_number = ? ORDER BY i.variant", order["number"],
    )[0]  # fmt: skip
    if (scene.today.toordinal() - type(scene.today).fromisoformat(order["delivered"]).toordinal()) <= 30:
        raise Unsuitable
    prompt = (
        f"Return the {item['name']} from my order {order['number']}: the reason is “Does not work”, and I would like my"
        f" money back. {_SAY}"
    )
    looked = (click("link", "Orders"), click("link", f"Order {order['number']}"))
    wrong = [(*looked, submit()), (*looked, submit("returned"))]
    checks = [{"check": "infeasible"}, changes()]
    return scene.draft(prompt, checks, (*looked, give_up("It was delivered more than 30 days ago.")), wrong)


TEMPLATES = {"infeasible": infeasible}
"""By name."""
