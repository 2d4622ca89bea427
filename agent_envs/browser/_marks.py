"""A picture of a tab with a box and a reference on everything that can be acted on, drawn outside of the page."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_envs.browser._tab import Tab

_COLOURS = ("#d01c1c", "#1c4fd0", "#0b7a2a", "#a0229b", "#b35900", "#00707a")


async def marked(tab: Tab, places: Mapping[str, tuple[float, float, float, float]]) -> bytes:
    """The picture, as PNG. Drawn in a context of its own, so that the page cannot notice."""
    picture = base64.b64encode(await tab.page.screenshot()).decode()
    size = tab.page.viewport_size or {"width": 1280, "height": 720}
    browser = tab.page.context.browser
    assert browser is not None
    context = await browser.new_context(viewport=size)
    try:
        page = await context.new_page()
        boxes = "".join(_box(ref, place, _COLOURS[i % len(_COLOURS)]) for i, (ref, place) in enumerate(places.items()))
        await page.set_content(
            "<style>*{margin:0;box-sizing:border-box}div{position:absolute;border:2px solid}"
            "b{position:absolute;left:-2px;top:-2px;font:bold 11px sans-serif;color:#fff;padding:0 2px}</style>"
            f"<img src=data:image/png;base64,{picture}>{boxes}"
        )
        return await page.screenshot()
    finally:
        await context.close()


def _box(ref: str, place: tuple[float, float, float, float], colour: str) -> str:
    x, y, width, height = place
    where = f"left:{x:.0f}px;top:{y:.0f}px;width:{width:.0f}px;height:{height:.0f}px;color:{colour}"
    return f"<div style='{where}'><b style='background:{colour}'>{ref}</b></div>"
