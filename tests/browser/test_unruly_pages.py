"""Whatever a page does, an action ends in time, says what happened, and leaves a window that can be used."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

import pytest

from agent_envs.browser import Window, _desk
from agent_envs.browser._desk import plain
from agent_envs.browser._loop import call
from agent_envs.errors import ToolFailed


@pytest.fixture
def never() -> Any:
    """What does not answer for a long time."""

    async def answer(scope: Any) -> tuple[int, dict[str, str], str]:
        await asyncio.sleep(300)
        return 200, {}, ""

    return answer


def usable(window: Window) -> bool:
    """Whether another page can be opened and read. A busy machine may take longer for it than a short limit allows."""
    return any(shows_home(window) for _ in range(20))


def shows_home(window: Window) -> bool:
    try:
        window.navigate("http://a.test/")
        return '"Home"' in window.look().full()
    except ToolFailed:
        return False


LOOPS = {
    "in a script": "<script>while (true);</script>",
    "on load": "<script>onload = () => { while (true); }</script>",
    "by promises": "<script>const again = () => Promise.resolve().then(again); again()</script>",
    "by a timer": "<script>setTimeout(() => { while (true); }, 50)</script>",
    "again and again": "<script>const spin = () => { setTimeout(spin); while (true); }; spin()</script>",
}


@pytest.mark.parametrize("page", LOOPS.values(), ids=LOOPS)
def test_a_loop_without_end_is_stopped_and_told(open_pages, page: str) -> None:
    window = open_pages({"/": "<p>Home</p>", "/loop": page}, start="", timeout_s=4.0, settle_s=0.5)
    assert usable(window)
    told = window.navigate("http://a.test/loop").note
    said = window.look().full()
    assert "did not answer" in told or "come to rest" in told or "did not answer" in said
    assert usable(window)


def test_a_click_that_never_ends_is_stopped_and_told(open_pages) -> None:
    window = open_pages(
        {"/": "<p>Home</p><button onclick='while (true);'>Go</button>"}, start="", timeout_s=1.0, settle_s=0.5
    )
    assert usable(window)
    assert "did not answer within 1 s" in window.click('button "Go"').note
    assert usable(window)


def test_a_page_that_never_stops_changing_is_told_and_read(open_pages) -> None:
    window = open_pages(
        {"/": "<p>Home</p><p id=p></p><script>setInterval(() => p.append('x'), 1)</script>"}, settle_s=0.3
    )
    assert "had not come to rest after 0.3 s" in window.navigate("/").note
    assert '"Home"' in window.look().full()


def test_a_request_that_is_never_answered_is_told(open_pages, never: Any) -> None:
    window = open_pages({"/": "<p>Home</p><script>fetch('/never')</script>", "/never": never}, settle_s=0.3)
    assert "had not come to rest after 0.3 s" in window.navigate("/").note


def test_an_address_that_is_never_answered_is_told(open_pages, never: Any) -> None:
    window = open_pages({"/": "<p>Home</p>", "/never": never}, start="", timeout_s=1.0, settle_s=0.3)
    try:
        told = window.navigate("http://a.test/never").note
    except ToolFailed as refused:
        told = str(refused)
    assert "did not open" in told or "did not answer" in told
    assert usable(window)


def test_a_crashed_page_is_replaced_and_told(open_pages) -> None:
    window = open_pages({"/": "<p>Home</p>"})
    window.new_tab()
    crash(window)
    assert "has crashed" in window.switch_tab(1).note
    assert window.end_state()["urls"] == ["http://a.test/"]
    crash(window)
    assert usable(window)


def crash(window: Window) -> None:
    desk = window._desk
    assert desk is not None

    async def work() -> None:
        tab = desk.tabs.front
        asyncio.ensure_future(tab.cdp.send("Page.crash"))  # noqa: RUF006
        await asyncio.wait_for(tab.interrupted.wait(), 60)

    call(work(), timeout_s=100)


def test_fifty_megabytes_are_too_much_in_time(open_pages) -> None:
    async def huge(scope: Any) -> tuple[int, dict[str, str], str]:
        return 200, {}, "<p>Home</p>" + "<div>some words</div>" * 2_500_000

    window = open_pages({"/": "<p>Home</p>", "/huge": huge}, start="", timeout_s=3.0, settle_s=2.0)
    began = time.monotonic()
    with contextlib.suppress(ToolFailed):
        window.navigate("http://a.test/huge")
        window.look()
    assert time.monotonic() - began < 120
    assert usable(window)


async def bill(scope: Any) -> tuple[int, dict[str, str], str]:
    """A file to be kept instead of shown."""
    kept = {"content-type": "application/pdf", "content-disposition": 'attachment; filename="bill.pdf"'}
    return 200, kept, "%PDF" * 1_000_000


@pytest.mark.parametrize("way", ["click", "navigate", "new_tab"])
def test_a_download_is_told_and_counted(open_pages, way: str) -> None:
    window = open_pages({"/": "<p>Home</p><a href=/bill>Bill</a>", "/bill": bill})
    done = getattr(window, way)('link "Bill"' if way == "click" else "/bill")
    assert done.note == 'downloaded "bill.pdf" (4000000 bytes)'
    assert window.end_state()["downloads"] == [{"name": "bill.pdf", "bytes": 4_000_000}]
    assert usable(window)


@pytest.mark.parametrize("way", ["click", "navigate"])
def test_a_download_that_fails_is_told(open_pages, way: str) -> None:
    async def torn(scope: Any) -> tuple[int, dict[str, str], str]:
        status, headers, body = await bill(scope)
        return status, {**headers, "content-encoding": "gzip"}, body

    window = open_pages({"/": "<p>Home</p><a href=/bill>Bill</a>", "/bill": torn})
    done = getattr(window, way)('link "Bill"' if way == "click" else "/bill")
    assert done.note == 'the download of "bill.pdf" has failed'
    assert window.end_state()["downloads"] == []


def test_an_empty_answer_is_no_download(open_pages) -> None:
    async def nothing(scope: Any) -> tuple[int, dict[str, str], str]:
        return 204, {}, ""

    window = open_pages({"/": "<p>Home</p>", "/nothing": nothing})
    with pytest.raises(ToolFailed, match="an empty answer"):
        window.navigate("/nothing")


def test_a_file_is_asked_for_in_words(open_pages) -> None:
    window = open_pages({"/": "<input type=file aria-label=Photo>"})
    assert "upload_file" in window.click('file "Photo"').note


def test_dialogs_without_end_can_be_left(open_pages) -> None:
    window = open_pages(
        {"/": "<p>Home</p>", "/ask": "<script>while (true) alert('again')</script>"}, start="", timeout_s=4.0
    )
    assert usable(window)
    assert "again" in window.navigate("http://a.test/ask").note
    for _ in range(3):
        assert "again" in window.handle_dialog(accept=True).note
    window.close_tab()
    assert usable(window)


def test_a_dialog_is_what_there_is_to_see(open_pages) -> None:
    window = open_pages({"/": "<button onclick=alert(1)>Go</button>"})
    window.click('button "Go"')
    assert 'alert "1"' in window.look().full()
    window.handle_dialog(accept=True)
    assert 'button "Go"' in window.look().full()


def test_a_page_that_leads_on_by_itself_is_followed(open_pages) -> None:
    window = open_pages({"/": "<p>Home</p>", "/on": "<script>location = '/'</script>"})
    window.navigate("/on")
    assert '"Home"' in window.look().full()


@pytest.mark.parametrize(("times", "shown"), [(3, '"Home"'), (1000, "(the page goes on before it can be read)")])
def test_a_document_that_goes_away_under_the_eyes_is_looked_at_again(
    open_pages, monkeypatch, times: int, shown: str
) -> None:
    from playwright.async_api import Error

    gone = iter([Error("Protocol error (Runtime.evaluate): Cannot find context with specified id")] * times)
    really = _desk.look

    async def look(tab: Any) -> Any:
        for error in gone:
            raise error
        return await really(tab)

    window = open_pages({"/": "<p>Home</p><script>setInterval(() => fetch('/'), 5)</script>"}, settle_s=0.0)
    monkeypatch.setattr(_desk, "look", look)
    assert window.look().lines == (shown,)


@pytest.mark.parametrize("said", ["Cannot find context with specified id", "Inspected target navigated or closed"])
def test_what_a_protocol_says_is_put_into_words(said: str) -> None:
    raw = Exception(f"CDPSession.send: Protocol error (Runtime.evaluate): {said}")
    assert plain(raw) == "it went on to another document meanwhile; look at it again"
    assert plain(Exception("Protocol error (Input.dispatch): 'x' is no number")) == "'x' is no number"


def test_the_same_seed_and_actions_give_the_same_observations(open_pages) -> None:
    page = """<p id=p></p><button onclick="p.append(' ' + Math.random() + ' ' + new Date() + ' ' + Date.now()
        + crypto.getRandomValues(new Uint32Array(2))); fetch('/x').then(r => r.text()).then(t => { p.append(t); setTimeout(() => p.append('!'), 120) })"
        >Go</button><a href='/next'>Next</a>"""
    pages = {"/": page, "/x": "late", "/next": page}

    def run() -> list[str]:
        window = open_pages(pages)
        seen = [window.look().full()]
        for _ in range(2):
            window.click('button "Go"')
            seen.append(window.look().full())
        window.click('link "Next"')
        window.click('button "Go"')
        return [*seen, window.look().full()]

    first = run()
    assert "2026" in first[1]
    assert run() == first
