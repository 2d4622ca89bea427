"""A window is a browser as a person knows it: addresses, tabs and dialogs, and whatever pages do to them."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import pytest

from agent_envs.browser import BrowserOptions, Window, _pool, open_window
from agent_envs.browser._loop import call, shelf
from agent_envs.errors import ConfigError, SandboxDied, SandboxUnavailable, ToolFailed


def urls(window: Window) -> list[str]:
    """The addresses of the tabs."""
    found: list[str] = window.end_state()["urls"]
    return found


def run(window: Window, script: str) -> object:
    """What a script in the front tab comes to; only a test may do that."""
    desk = window._desk
    assert desk is not None
    return call(desk.tabs.front.page.evaluate(script), timeout_s=200)


def click(window: Window, x: float = 20, y: float = 20) -> str:
    """Press the mouse there; what is told of it."""
    desk = window._desk
    assert desk is not None
    return call(desk.alone(desk.act(lambda tab: tab.page.mouse.click(x, y))), timeout_s=200).note


def button(script: str) -> str:
    """A page that is one button."""
    return f'<body style="margin:0"><button style="width:400px;height:400px" onclick="{script}">Do</button>'


def test_a_window_kept_ready_is_as_untouched_as_a_new_one(open_pages) -> None:
    told = "[history.length, Math.random(), Date.now(), name, document.referrer, innerWidth, innerHeight, document.hasFocus()]"
    pages = {"/": f"<button>A</button><p id=p></p><script>p.textContent = {told}.join()</script>"}
    new = open_pages(pages, ready=0)
    call(until_ready(open_pages(pages)), timeout_s=100)
    kept = open_pages(pages, start="")
    assert (kept.look().lines, urls(kept), kept.gateway.log) == ((), ["about:blank"], [])
    kept.navigate("http://a.test/")
    assert kept.look().full() == new.look().full()
    with pytest.raises(ToolFailed, match="no later page"):
        kept.go_forward()
    kept.go_back()
    assert urls(kept) == ["about:blank"]


@pytest.mark.parametrize("fate", ["Page.crash", ""])
def test_a_window_that_dies_before_it_is_ready_keeps_nobody_waiting(open_pages, monkeypatch, fate: str) -> None:
    begun = threading.Event()

    async def never(tab, *, go_on) -> None:
        begun.set()
        await (tab.cdp.send(fate) if fate else asyncio.sleep(300))
        await asyncio.sleep(300)

    monkeypatch.setattr(_pool, "_REHEARSAL_S", 60.0 if fate else 0.5)
    monkeypatch.setattr(_pool, "rehearse", never)
    open_pages({"/": "One"}, width=301 + len(fate))
    assert begun.wait(60)
    begin = time.monotonic()
    assert open_pages({"/": "Two"}, width=301 + len(fate)).look().lines == ('"Two"',)
    assert time.monotonic() - begin < 50


async def until_ready(window: Window) -> None:
    """Until the next window like this one is ready."""
    assert window._desk is not None
    pool = shelf()["pools"][window._desk.options]
    while not pool.made:
        pool._refill()
        await asyncio.sleep(0.01)


def test_an_address_may_be_written_as_people_write_it(open_pages) -> None:
    window = open_pages({"/": "Home", "/cart": "Cart"})
    window.navigate("/cart")
    assert urls(window) == ["http://a.test/cart"]
    window.navigate("a.test")
    assert urls(window) == ["http://a.test/"]


@pytest.mark.parametrize(
    "url", ["", "file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "http://", "about:version"]
)
def test_what_is_no_address_of_a_site_is_not_opened(open_pages, url: str) -> None:
    window = open_pages({"/": "Home"})
    with pytest.raises(ToolFailed):
        window.navigate(url)
    assert urls(window) == ["http://a.test/"]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("javascript:1", "javascript: addresses cannot be opened"),
        ("DATA:1/x", "DATA: addresses cannot be opened"),
        ("http://a.test:99999", "is no address"),
        ("a.test:99999/x", "is no address"),
        ("http://a%/", "that is no address"),
    ],
)
def test_an_address_that_cannot_be_is_told_as_what_it_is(open_pages, url: str, said: str) -> None:
    with pytest.raises(ToolFailed, match=said):
        open_pages({"/": "Home"}).navigate(url)


def test_a_host_may_be_written_with_its_port_alone(open_pages) -> None:
    window = open_pages({"/": "Home", "/x": "X"})
    for url, opened in {"a.test:8080/x": ":8080/x", "a.test:8080": ":8080/", "a.test:8080?y=1": ":8080/?y=1"}.items():
        window.navigate(url)
        assert urls(window) == [f"http://a.test{opened}"]


def test_redirects_without_end_are_told(open_pages) -> None:
    window = open_pages({"/": "Home", "/a": "x"}, start="")
    window.gateway._visits["a.test"].site.pages["/a"] = redirect_to("/a")
    with pytest.raises(ToolFailed, match="redirects without end"):
        window.navigate("http://a.test/a")


def redirect_to(path: str):
    async def answer(scope: object) -> tuple[int, dict[str, str], str]:
        return 302, {"location": path}, ""

    return answer


def test_going_back_to_the_answer_of_a_form_leaves_the_page_where_it_is(open_pages) -> None:
    async def answer(scope: Any) -> tuple[int, dict[str, str], str]:
        return 422, {"cache-control": "no-store"}, f"{scope['method']} <a href=/b>Onward</a>"

    form = "<form method=post action=/a><button>Send</button></form>"
    window = open_pages({"/": form, "/a": answer, "/b": "B"})
    window.click('button "Send"')
    window.click('link "Onward"')
    assert "would have to be sent again" in window.go_back().note
    assert urls(window) == ["http://a.test/b"]
    assert window.look().lines == ('"B"',)
    window.navigate("/")
    window.go_back()
    assert urls(window) == ["http://a.test/b"]


def test_an_address_without_a_host_is_one_of_the_page_that_opened_last(open_pages) -> None:
    window = open_pages({"/": "Home", "/b": "B"})
    with pytest.raises(ToolFailed, match="port"):
        window.navigate("http://a.test:1/")
    window.navigate("/b")
    assert urls(window) == ["http://a.test/b"]


def test_history_goes_back_and_forward_and_ends(open_pages) -> None:
    window = open_pages({"/": "Home", "/a": "A"}, start="/a")
    window.navigate("/")
    window.go_back()
    assert urls(window) == ["http://a.test/a"]
    window.go_forward()
    assert urls(window) == ["http://a.test/"]
    with pytest.raises(ToolFailed, match="no later page"):
        window.go_forward()


def test_tabs_open_switch_and_close(open_pages) -> None:
    window = open_pages({"/": "Home", "/a": "A"})
    window.new_tab("/a")
    assert window.end_state() == {"urls": ["http://a.test/", "http://a.test/a"], "active": 1, "downloads": []}
    window.switch_tab(1)
    assert window.end_state()["active"] == 0
    window.close_tab(2)
    assert urls(window) == ["http://a.test/"]
    with pytest.raises(ToolFailed, match="no tab 2; the tabs are 1"):
        window.switch_tab(2)


def test_the_last_tab_leaves_a_blank_one(open_pages) -> None:
    window = open_pages({"/": "Home"})
    window.close_tab()
    assert urls(window) == ["about:blank"]


def test_a_tab_that_a_page_opens_comes_to_the_front(open_pages) -> None:
    window = open_pages({"/": button("window.open('/a')"), "/a": "A"})
    assert click(window) == "tab 2 was opened and is in front"
    assert window.end_state()["urls"] == ["http://a.test/", "http://a.test/a"]


def test_tabs_that_open_together_are_numbered_as_they_were_opened(open_pages, eventually) -> None:
    links = "".join(f"<a href=/{name} target=_blank rel=noopener>{name}</a>" for name in "abcde")
    pages = {"/": button("document.querySelectorAll('a').forEach(link => link.click())") + links}
    for _ in range(3):
        window = open_pages(pages | {f"/{name}": name for name in "abcde"})
        assert click(window).endswith(" was opened and is in front")
        opened = [f"http://a.test/{name}" for name in "abcde"]
        eventually(lambda window=window: urls(window), ["http://a.test/", *opened])
        assert window.end_state()["active"] == 5


def test_a_storm_of_tabs_is_bounded_and_told(open_pages) -> None:
    window = open_pages({"/": button("for (let i = 0; i < 40; i++) window.open('/a')"), "/a": "A"})
    assert "more tabs were closed" in click(window)
    assert len(urls(window)) == 20


def test_a_tab_that_closes_itself_gives_way_to_the_one_before(open_pages) -> None:
    window = open_pages({"/": button("window.open('/a')"), "/a": button("window.close()")})
    click(window)
    assert click(window) == "tab 2 has closed itself"
    assert urls(window) == ["http://a.test/"]


def test_a_last_tab_that_closes_itself_leaves_a_blank_one(open_pages) -> None:
    window = open_pages({"/": button("window.open('/a')"), "/a": button("window.close()")})
    click(window)
    window.close_tab(1)
    assert click(window) == "tab 2 has closed itself; a blank one has taken its place"
    assert urls(window) == ["about:blank"]


@pytest.mark.parametrize(("accept", "answer"), [(True, True), (False, False)])
def test_a_dialog_stops_everything_until_it_is_answered(open_pages, accept: bool, answer: bool) -> None:
    window = open_pages({"/": button("window.answer = confirm('Delete it?')")})
    assert 'confirm "Delete it?"' in click(window)
    with pytest.raises(ToolFailed, match="a dialog is open"):
        window.navigate("/")
    window.handle_dialog(accept=accept)
    assert run(window, "window.answer") is answer


def test_a_prompt_takes_a_text(open_pages) -> None:
    window = open_pages({"/": button("window.answer = prompt('Name?', 'Ann')")})
    assert 'prompt "Name?" (suggests "Ann")' in click(window)
    window.handle_dialog(accept=True, text="Bo")
    assert run(window, "window.answer") == "Bo"


def test_what_a_dialog_says_is_one_line_for_every_reader(open_pages) -> None:
    window = open_pages({"/": r"<script>alert('a\n[e1] \u2028[e2] \u0085 \u202e \u007f \"[e3]')</script>"}, start="")
    note = window.navigate("http://a.test/").note
    assert len(note.splitlines()) == 1
    assert note.isprintable()
    assert len(window.look().lines[0].splitlines()) == 1


def test_dialogs_in_a_row_are_told_one_by_one(open_pages) -> None:
    window = open_pages({"/": "<script>alert('one'); alert('two')</script>"}, start="")
    assert "one" in window.navigate("http://a.test/").note
    assert "two" in window.handle_dialog(accept=True).note
    assert window.handle_dialog(accept=True).note == ""
    with pytest.raises(ToolFailed, match="no dialog is open"):
        window.handle_dialog(accept=True)


def test_a_page_may_ask_whether_to_leave_it(open_pages) -> None:
    window = open_pages({"/": "<script>onbeforeunload = e => e.preventDefault()</script>" + button(""), "/a": "A"})
    click(window)
    assert "asks whether to leave it" in window.navigate("/a").note
    window.handle_dialog(accept=False)
    assert urls(window) == ["http://a.test/"]
    window.navigate("/a")
    window.handle_dialog(accept=True)
    assert urls(window) == ["http://a.test/a"]


def test_a_closed_window_is_closed_for_good(open_pages) -> None:
    window = open_pages({"/": "Home"})
    window.close()
    window.close()
    with pytest.raises(SandboxDied, match="closed"):
        window.navigate("/")


def test_a_browser_that_is_not_there_is_named_with_what_would_help() -> None:
    with pytest.raises(SandboxUnavailable, match=r"no browser 'no-such-browser'.*install"):
        open_window(BrowserOptions(executable="no-such-browser"), visits={}, now="2026-03-10T09:00:00", seed=0)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"options": None}, "options are None; expected BrowserOptions"),
        ({"visits": []}, r"visits are \[\]; expected visits by host name"),
        ({"visits": {"a.test": 5}}, "expected visits by host name"),
        ({"now": 5}, "now is 5; expected a local time"),
        ({"now": "2026-13-01"}, "now is '2026-13-01'; expected a local time"),
        ({"now": "2026-03-10T09:00:00+01:00"}, "without an offset"),
        ({"seed": "x"}, "seed is 'x'; expected a whole number"),
        ({"seed": None}, "seed is None; expected a whole number"),
    ],
)
def test_a_window_that_cannot_be_meant_is_refused(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        open_window(**{"options": BrowserOptions(), "visits": {}, "now": "2026-03-10T09:00:00", "seed": 0, **wrong})


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"executable": "chromium", "channel": "chrome"}, "give one of them"),
        ({"executable": None}, "executable is None; expected a text"),
        ({"channel": 5}, "channel is 5; expected a text"),
        ({"locale": 5}, "locale is 5; expected a text"),
        ({"locale": "en-" + "a" * 50}, "expected a language tag"),
        ({"locale": "x-1"}, "locale is 'x-1'; expected a language tag"),
        ({"locale": "english"}, "locale is 'english'; expected a language tag"),
        ({"locale": "en-1"}, "locale is 'en-1'; expected a language tag"),
        ({"timeout_s": "x"}, "timeout_s is 'x'; expected a number"),
        ({"timeout_s": True}, "timeout_s is True; expected a number"),
        ({"settle_s": None}, "settle_s is None; expected a number"),
        ({"settle_s": float("nan")}, "settle_s are 10.0, nan; expected up to"),
        ({"timezone": 5}, "timezone is 5; expected a text"),
        ({"timezone": "posix/UTC"}, "no time zone 'posix/UTC'"),
        ({"timezone": "localtime"}, "no time zone 'localtime'"),
    ],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        BrowserOptions(**options)
