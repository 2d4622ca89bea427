"""`shop`: tasks at the bundled shop, made from seeds: 17 kinds at three levels."""

from __future__ import annotations

from agent_envs.envs.web.tasks import (
    _shop_account,
    _shop_buying,
    _shop_finding,
    _shop_infeasible,
    _shop_opinions,
    _shop_ordering,
)
from agent_envs.envs.web.tasks._shop_scene import HOST
from agent_envs.envs.web.tasks._template import Template, task_set

from agent_envs.tasks import GeneratedTaskSet

SITE = "agent_envs.envs.web.sites.shop:SHOP"
TEMPLATES: dict[str, Template] = {
    **_shop_account.TEMPLATES,
    **_shop_buying.TEMPLATES,
    **_shop_finding.TEMPLATES,
    **_shop_infeasible.TEMPLATES,
    **_shop_opinions.TEMPLATES,
    **_shop_ordering.TEMPLATES,
}
"""Every kind of task, by the tag that its tasks have."""


def load() -> GeneratedTaskSet:
    """Tasks without end; `shop/train/0` and so on."""
    return task_set("shop", SITE, HOST, TEMPLATES, version="2")
