"""What an action has begun is over before the page is told, and what never comes is not waited for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_envs.browser import Window

DONE = "p.textContent = 'done'"
TALKS = "<script>setTimeout(() => parent.postMessage(1, '*'), 200)</script>"
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
    "a chain of timers": f"let n = 0; const f = () => {{ if (++n < 20) setTimeout(f, 20); else {DONE} }}; f()",
    "a loop that sleeps": f"(async () => {{ for (let i = 0; i < 15; i++) await new Promise((r) => setTimeout(r, 30)); {DONE} }})()",
    "work in slices": f"let n = 0; const c = new MessageChannel(); c.port1.onmessage = () => {{ const e = performance.now() + 5;"
    f" while (performance.now() < e); if (++n < 30) c.port2.postMessage(0); else {{ {DONE} }} }}; c.port2.postMessage(0)",
    "messages to oneself": f"let n = 0; onmessage = () => {{ if (++n < 20) postMessage(0, '*'); else {{ {DONE} }} }}; postMessage(0, '*')",
    "the end of a transition": f"p.style.transition = 'margin 0.3s'; p.offsetTop; p.style.margin = '9px'; p.ontransitionend = () => {{ {DONE} }}",
    "the end of a view transition": f"document.startViewTransition(() => 1).finished.then(() => {{ {DONE} }})",
    "a movement in a shadow tree": "const b = document.createElement('span'); const s = b.attachShadow({mode: 'closed'}); s.append(document.createElement('i'));"
    f" document.body.append(b); s.firstChild.animate([{{margin: 0}}, {{margin: '9px'}}], 400).onfinish = () => {{ {DONE} }}",
    "the close of a dialog": f"const d = document.createElement('dialog'); document.body.append(d); d.showModal(); d.onclose = () => {{ {DONE} }}; d.close()",
    "a file that is read": f"const r = new FileReader(); r.onload = () => {{ {DONE} }}; r.readAsDataURL(new Blob(['x'.repeat(5e6)]))",
    "a drawing that is packed": "const c = document.createElement('canvas'); c.width = c.height = 500; c.getContext('2d').fillRect(0, 0, 9, 9);"
    f" c.toBlob(() => {{ {DONE} }})",
    "the word that the page was scrolled": f"document.body.style.height = '9000px'; onscroll = () => {{ {DONE} }}; window.scrollTo(0, 900)",
    "a frame that begins something": f"const i = document.createElement('iframe'); i.src = '/talks'; document.body.append(i); onmessage = () => setTimeout(() => {{ {DONE} }}, 100)",
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
    window = open_pages({"/": page, "/late.js": late, "/later.js": later, "/late.png": late, "/talks": TALKS})
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


@pytest.mark.parametrize(
    "work",
    ["setTimeout(() => { %s }, 300)", "let n = 0; const f = () => ++n < 5 ? requestAnimationFrame(f) : (%s); f()"],
)
def test_a_frame_that_is_seen_for_the_first_time_has_come_to_rest_too(open_pages, work: str) -> None:
    frame = f"<p id=p>before</p><script>{work % DONE}</script>"
    window = open_pages({"/": "<iframe src=/i></iframe>", "/i": f"<iframe src=/j></iframe>{frame}", "/j": frame})
    seen = window.look().full()
    assert seen.count('"done"') == 2
    assert "[e1] iframe" in seen


@pytest.mark.parametrize(("keys", "place"), [("End", "4359"), ("PageDown", "630")])
def test_a_page_is_where_it_was_scrolled_to(open_pages, keys: str, place: str) -> None:
    window = open_pages({"/": "<p>Top</p><button>Go</button><div style=height:5000px></div>"})
    window.click('button "Go"')
    seen = window.shown(lambda: window.press(keys)).seen
    assert seen is not None
    assert f"scrolled {place} of 4359 px" in seen.full()


def test_a_page_that_scrolls_smoothly_is_there(open_pages) -> None:
    far = "<div style=height:4000px></div>"
    window = open_pages(
        {"/": f"<style>html {{scroll-behavior: smooth}}</style><a href=#x>Go</a>{far}<p id=x>There</p>{far}"}
    )
    seen = window.shown(lambda: window.click('link "Go"')).seen
    assert seen is not None
    assert "scrolled 4042 of" in seen.full()


def test_what_goes_on_for_ever_costs_a_second_once(open_pages) -> None:
    loops = (
        "const f = () => setTimeout(f, 5), c = new MessageChannel(); c.port1.onmessage = () => c.port2.postMessage(0);"
    )
    window = open_pages({"/": f"<button>Go</button><script>{loops} f(); c.port2.postMessage(0)</script>"}, settle_s=5.0)
    assert window.click('button "Go"').note == ""
