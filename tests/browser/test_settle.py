"""What an action has begun is over before the page is told, and what never comes is not waited for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_envs.browser import Window

DONE = "p.textContent = 'done'"
BEGUN = {
    "a script that is imported": "import('/late.js')",
    "one that imports another": "import('/later.js')",
    "a timer with a text": "setTimeout(\"p.textContent = 'done'\", 100)",
    "a task for later": f"scheduler.postTask(() => {{ {DONE} }}, {{delay: 50}})",
    "an idle moment": f"requestIdleCallback(() => {{ {DONE} }})",
    "an observer of sizes": f"p.style.width = '50px'; new ResizeObserver(() => {{ {DONE} }}).observe(p)",
    "a size that is observed": "p.style.width = '50px'",
    "an observer of what is visible": f"new IntersectionObserver(() => {{ {DONE} }}).observe(p)",
    "a view transition": f"document.startViewTransition(() => {{ {DONE} }})",
    "a picture in no document": f"const i = new Image(); i.onerror = () => {{ {DONE} }}; i.src = '/late.png'",
    "a socket": f"new WebSocket('ws://a.test/x').onerror = () => {{ {DONE} }}",
    "a database": f"indexedDB.open('x').onsuccess = (event) => {{ event.target.result.close(); {DONE} }}",
}


async def late(scope: Any) -> tuple[int, dict[str, str], str]:
    """A script that takes its time."""
    await asyncio.sleep(0.05)
    return 200, {"content-type": "text/javascript"}, DONE


async def later(scope: Any) -> tuple[int, dict[str, str], str]:
    """Another one, which needs the first."""
    return 200, {"content-type": "text/javascript"}, "import './late.js'"


@pytest.mark.parametrize("begin", BEGUN.values(), ids=BEGUN)
def test_what_an_action_has_begun_is_over(open_pages, begin: str) -> None:
    observed = (
        "<script>let sizes = 0; new ResizeObserver(() => { if (sizes++) p.textContent = 'done' }).observe(p)</script>"
    )
    page = f"<p id=p>before</p><button>Go</button><script>document.querySelector('button').onclick = () => {{ {begin} }}</script>"
    if begin == BEGUN["a size that is observed"]:
        page += observed
    window = open_pages({"/": page, "/late.js": late, "/later.js": later, "/late.png": late})
    for _ in range(4):
        window.navigate("/")
        seen = window.shown(lambda: window.click('button "Go"')).seen
        assert seen is not None
        assert '"done"' in seen.full()


@pytest.mark.parametrize(
    "begin",
    [
        "const c = new AbortController(); fetch('/never', {signal: c.signal}).catch(() => 1); setTimeout(() => c.abort(), 50)",
        "const x = new XMLHttpRequest(); x.open('GET', '/never'); x.send(); setTimeout(() => x.abort(), 50)",
        "location = '/never'; setTimeout(() => stop(), 50)",
        "window.open('mailto:a@b.test')",
        "const again = () => requestIdleCallback(again); again()",
        "const again = () => scheduler.postTask(again, {delay: 5}); again()",
    ],
)
def test_what_is_given_up_or_never_comes_is_not_waited_for(open_pages, begin: str) -> None:
    async def never(scope: Any) -> tuple[int, dict[str, str], str]:
        await asyncio.sleep(100)
        return 200, {}, ""

    page = f"<button>Go</button><script>document.querySelector('button').onclick = () => {{ {begin} }}</script>"
    window: Window = open_pages({"/": page, "/never": never})
    assert window.click('button "Go"').note == ""
