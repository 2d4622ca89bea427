"""A window as its tools use it: look, act, wait, and what is told of it."""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Callable
from typing import Any

import pytest

from agent_envs.errors import ToolFailed

Open = Callable[..., Any]


def test_a_window_is_looked_at_and_acted_on(open_pages: Open) -> None:
    window = open_pages({"/": "<button onclick=\"this.textContent='Bought'\">Buy</button>"})
    assert window.look().lines == ('[e1] button "Buy"',)
    assert window.click("e1").note == ""
    assert window.look().lines == ('[e1] button "Bought" focused',)


def test_an_action_shows_where_it_ends_where_that_is_asked_for(open_pages: Open) -> None:
    window = open_pages({"/": "<button onclick=\"this.textContent='Bought'; setTimeout(alert, 9)\">Buy</button>"})
    assert window.click('button "Buy"').seen is None
    window.handle_dialog(accept=True)
    assert window.shown(lambda: window.press("a")).seen.lines == ('[e1] button "Bought" focused',)
    done = window.shown(lambda: window.click("e1"))
    assert done.note.startswith("a dialog opened")
    assert done.seen.lines[0].startswith("(a dialog is open")


def test_a_look_that_came_too_soon_takes_no_references(open_pages: Open) -> None:
    add = (
        "document.body.insertAdjacentHTML('beforeend', '<button id=soon>Soon gone</button>');"
        "document.body.append(Object.assign(document.createElement('script'), { src: '/more.js' }))"
    )
    more = "document.getElementById('soon').outerHTML = '<button>New</button>'"

    async def later(scope: object) -> tuple[int, dict[str, str], str]:
        await asyncio.sleep(0.5)
        return 200, {}, more

    window = open_pages({"/": f'<button onclick="{add}">Go</button>', "/more.js": later})
    shown = window.shown(lambda: window.click('button "Go"')).seen
    assert shown.lines == ('[e1] button "Go" focused', '[e2] button "New"')


def test_a_look_that_nobody_waits_for_any_more_renames_nothing(open_pages: Open) -> None:
    async def later(scope: object) -> tuple[int, dict[str, str], str]:
        await asyncio.sleep(0.7)
        return 200, {"content-type": "image/svg+xml"}, "<svg xmlns='http://www.w3.org/2000/svg'/>"

    page = (
        "<div id=ads></div><button onclick=\"document.title = 'bought'\">Buy</button><img src=/slow.svg><script>"
        "const go = (n) => { ads.insertAdjacentHTML('afterbegin', `<button>Ad ${n}</button>`);"
        "if (n < 6) setTimeout(go, 300, n + 1) }; onload = () => setTimeout(go, 100, 1)</script>"
    )
    window = open_pages({"/": "<a href=/p>P</a>", "/p": page, "/slow.svg": later}, settle_s=1.2)
    shown = window.shown(lambda: window.click('link "P"')).seen
    buy = next(line for line in shown.lines if "Buy" in line)
    time.sleep(2)
    window.click(buy.partition("]")[0] + "]")
    assert window.evaluate("document.title") == "bought"


def test_a_frame_gives_no_reference_twice(open_pages: Open) -> None:
    async def later(scope: object) -> tuple[int, dict[str, str], str]:
        await asyncio.sleep(0.8)
        return (
            200,
            {},
            "for (let i = 0; i < 3; i++) document.body.insertAdjacentHTML('afterbegin', '<button>M</button>')",
        )

    add = (
        "setTimeout(() => { f.contentDocument.body.insertAdjacentHTML('beforeend', '<button>New</button>');"
        "document.body.append(Object.assign(document.createElement('script'), { src: '/more.js' })) }, 50)"
    )
    window = open_pages(
        {
            "/": f'<button onclick="{add}">Go</button><iframe id=f src=/f></iframe>',
            "/f": "<button>In</button>",
            "/more.js": later,
        }
    )
    window.look()
    lines = window.shown(lambda: window.click('button "Go"')).seen.lines
    given = [line.strip().partition("]")[0] for line in lines if "[" in line]
    assert len(given) == len(set(given))


def test_a_form_is_filled_and_sent(open_pages: Open) -> None:
    window = open_pages({"/": "<form action=/2><label>Name <input name=n></label><select name=s aria-label=S><option>a<option>b</select>"
                              "<label><input type=checkbox name=c>Sure</label><button>Send</button></form>", "/2": "<p>thanks"})  # fmt: skip
    window.type('textbox "Name"', "Ann")
    window.select_option('combobox "S"', ["b"])
    window.set_checked('checkbox "Sure"', True)
    window.click('button "Send"')
    assert window.look().url == "http://a.test/2?n=Ann&s=b&c=on"


def test_an_open_dialog_is_what_one_sees(open_pages: Open) -> None:
    window = open_pages({"/": "<button onclick=\"this.textContent = confirm('Sure?')\">Go</button>"})
    assert "confirm" in window.click('button "Go"').note
    assert window.look().lines == ('(a dialog is open: confirm "Sure?"; answer it with handle_dialog)',)
    window.handle_dialog(accept=True)
    assert window.look().lines == ('[e1] button "true" focused',)


def test_references_differ_between_tabs(open_pages: Open) -> None:
    window = open_pages({"/": "<button>A</button>"})
    window.look()
    window.new_tab("http://a.test/")
    assert window.look().lines == ('[e2] button "A"',)
    assert "tab 1 at http://a.test/\ntab 2 at http://a.test/ (in front)" in window.look().header


def test_waiting_ends_when_a_text_appears(open_pages: Open) -> None:
    window = open_pages({"/": "<p id=p>no</p><script>setTimeout(() => p.textContent = 'Ready', 1500)</script>"})
    window.wait_for(text="ready", gone="no")
    assert window.look().lines == ('"Ready"',)
    with pytest.raises(ToolFailed, match="'never' has not appeared"):
        window.wait_for(text="never", seconds=0.2)
    with pytest.raises(ToolFailed, match="after 0 s"):
        window.wait_for(text="never", seconds=0)


def test_a_wait_in_vain_tells_what_happened_meanwhile(open_pages: Open) -> None:
    window = open_pages({"/": "Home"})
    window.evaluate("void open('/')")
    with pytest.raises(ToolFailed, match="'never' has not appeared after 0 s; tab 2 was opened and is in front"):
        window.wait_for(text="never", seconds=0)
    assert window.navigate("/").note == ""


def test_a_screenshot_may_carry_marks(open_pages: Open) -> None:
    window = open_pages({"/": "<button>A</button>"})
    plain, marked = window.screenshot(), window.screenshot(marks=True)
    assert struct.unpack(">II", plain[16:24]) == struct.unpack(">II", marked[16:24]) == (1280, 720)
    assert plain != marked
    assert window.look().lines == ('[e1] button "A"',)


def test_a_difference_is_short_and_a_new_page_is_whole(open_pages: Open) -> None:
    rows = "".join(f"<li>Item {i} <button>Buy {i}</button>" for i in range(50))
    window = open_pages({"/": f"<input aria-label=Q><ul>{rows}</ul><a href=/2>On</a>", "/2": "<p>Second"})
    before = window.look()
    window.type('textbox "Q"', "x")
    after = window.look()
    assert after.diff(before) == '~ [e1] textbox "Q" = "x" focused'
    assert after.diff(after) == "nothing that can be seen on the page changed"
    window.click('link "On"')
    assert window.look().diff(after).endswith('"Second"')


def test_a_long_page_comes_in_parts_that_say_so(open_pages: Open) -> None:
    rows = "".join(f"<li>Item {i}" for i in range(300))
    snapshot = open_pages({"/": f"<main><ul aria-label=All>{rows}</ul></main>"}).look()
    first, last = snapshot.full(2000), snapshot.full(2000, page=99)
    assert len(first) <= 2000
    assert "part 1 of 3; read_more shows what follows)" in first
    assert last.startswith('main\n  list "All"\n    - "Item')
    assert last.endswith("part 3 of 3; this is the end)")
    everything = "".join(snapshot.full(2000, page=page) for page in (1, 2, 3))
    assert all(f'"Item {i}"' in everything for i in range(300))


def test_a_text_is_found_with_what_it_is_inside_of(open_pages: Open) -> None:
    snapshot = open_pages({"/": "<main><ul aria-label=All><li>One<li>Two</ul></main>"}).look()
    assert snapshot.find("TWO") == 'main\n  list "All"\n    - "Two"'
    assert snapshot.find("Three") == "nothing on the page holds 'Three'"
