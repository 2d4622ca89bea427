"""Acting on a page: what can be done is done with trusted input; what cannot is answered at once, in words."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from agent_envs.browser import _hands as hands
from agent_envs.browser import _keys
from agent_envs.browser._settle import rest
from agent_envs.errors import ToolFailed

Read = Callable[..., Any]
LOG = "<script>log = []; for (const t of ['click','dblclick','input','change','keydown','mouseover','drop','contextmenu','submit'])" \
      "addEventListener(t, (e) => log.push(t + (e.isTrusted ? '' : '?') + ':' + (e.target.id || e.target.localName)), true)</script>"  # fmt: skip


def refused(page: Any, match: str, action: Any, *arguments: Any, **options: Any) -> None:
    page.text()
    started = time.monotonic()
    with pytest.raises(ToolFailed, match=match):
        page.run(action(page.tab, *arguments, **options))
    # At once: nothing is waited for that might yet come, as it would be for seconds.
    assert time.monotonic() - started < 5


def test_a_click_is_trusted(read: Read) -> None:
    page = read(LOG + "<button id=b>Buy</button>")
    page.do(hands.click, 'button "Buy"')
    assert "click:b" in page.js("log")


def test_clicks_take_buttons_modifiers_and_two_presses(read: Read) -> None:
    page = read(LOG + "<button id=b>Buy</button><script>b.onclick=(e)=>{ctrl=e.ctrlKey}</script>")
    page.do(hands.click, 'button "Buy"', button="right")
    page.do(hands.click, 'button "Buy"', double=True, modifiers=["ctrl"])
    log = page.js("log")
    assert "contextmenu:b" in log
    assert "dblclick:b" in log
    assert page.js("ctrl") is True


@pytest.mark.parametrize(
    ("html", "why"),
    [
        ("<button disabled>B</button>", "disabled"),
        ("<fieldset disabled><button>B</button></fieldset>", "disabled"),
        ("<button aria-disabled=true>B</button>", "disabled"),
        ("<button>B</button><div role=dialog aria-label=Ad style='position:absolute;top:0;left:0;width:300px;height:300px'>x</div>",
         r'covered by \[e\d+\] dialog "Ad"'),
        ("<button style='width:0;height:0;padding:0;border:0;overflow:hidden;position:absolute'>B</button><i>x</i>", "no button|no size"),
    ],
)  # fmt: skip
def test_a_click_that_cannot_be_is_refused_with_the_reason(read: Read, html: str, why: str) -> None:
    refused(read(html), why, hands.click, 'button "B"')


def test_an_element_that_was_hidden_meanwhile_is_refused(read: Read) -> None:
    page = read("<button id=b>B</button>")
    page.text()
    page.js("b.style.display='none'")
    with pytest.raises(ToolFailed, match="it is hidden"):
        page.do(hands.click, "e1")


def test_a_reference_that_is_gone_names_what_took_its_place(read: Read) -> None:
    page = read("<div id=d><button>Save</button></div>")
    page.text()
    page.js("d.innerHTML = d.innerHTML")
    with pytest.raises(ToolFailed, match=r'\[e1\] \(button "Save"\) is no longer on the page; .*\[e2\] button "Save"'):
        page.do(hands.click, "e1")


def test_a_reference_that_never_was_is_refused(read: Read) -> None:
    refused(read("<button>Save</button>"), "no element e99: references end at e1", hands.click, "e99")


def test_a_name_that_fits_twice_is_refused_with_both(read: Read) -> None:
    refused(
        read("<button>A</button><button>A</button>"),
        r"2 elements are button \"A\": \[e1\], \[e2\]",
        hands.click,
        'button "A"',
    )


def test_a_name_that_fits_none_is_refused_with_the_nearest(read: Read) -> None:
    refused(
        read("<button>Save all</button>"), r'no button "Save" .*\[e1\] button "Save all"', hands.click, 'button "Save"'
    )


def test_what_names_no_element_is_refused(read: Read) -> None:
    refused(read("<p>x"), "names no element", hands.click, "the big button")


@pytest.mark.parametrize(
    ("html", "typed", "value"),
    [
        ("<input id=x value=old>", "new", "new"),
        ("<textarea id=x>old</textarea>", "a\nb", "a\nb"),
        ("<input id=x type=number value=1>", "2.5", "2.5"),
        ("<input id=x type=email value=a@b.test>", "c@d.test", "c@d.test"),
        ("<input id=x type=date>", "2026-12-24", "2026-12-24"),
        ("<input id=x type=time>", "14:30", "14:30"),
        ("<input id=x type=color>", "#ff0000", "#ff0000"),
        ("<input id=x type=range min=0 max=10>", "7", "7"),
        ("<input id=x value=old>", "", ""),
        ("<input id=x>", "long " * 200, "long " * 200),
        ("<input id=x>", "héllo → 日本", "héllo → 日本"),
        ("<input id=x>", "two\nlines", "two lines"),
    ],
)
def test_typing_replaces_what_was_there(read: Read, html: str, typed: str, value: str) -> None:
    page = read(LOG + html.replace("id=x", "id=x aria-label=X"))
    (ref,) = {line.split("]")[0][1:] for line in page.look().lines}
    page.do(hands.type_text, ref, typed)
    assert page.js("x.value") == value
    if value not in ("", page.js("x.defaultValue")):
        assert any(entry.startswith("input") for entry in page.js("log"))


def test_typing_into_rich_text_replaces_or_appends(read: Read) -> None:
    page = read("<div id=x contenteditable aria-label=X>one <b>two</b></div>")
    page.do(hands.type_text, 'textbox "X"', " three", clear=False)
    assert page.js("x.innerText").replace("\xa0", " ") == "one two three"
    page.do(hands.type_text, 'textbox "X"', "new")
    assert page.js("x.innerText").strip() == "new"


def test_typing_presses_keys_and_enter_sends(read: Read) -> None:
    page = read({"/": LOG + "<form action=/2><input name=q aria-label=Q></form>", "/2": "<p>sent"})
    page.do(hands.type_text, 'textbox "Q"', "ab", submit=True)
    assert page.text() == '"sent"'
    assert page.look().url == "http://a.test/2?q=ab"


@pytest.mark.parametrize(
    ("html", "text", "why"),
    [
        ("<input aria-label=X readonly>", "a", "read-only"),
        ("<button aria-label=X>b</button>", "a", "cannot type"),
        ("<input aria-label=X type=date>", "24.12.2026", "such as 2026-03-31"),
        ("<select aria-label=X><option>a</select>", "a", "select_option"),
        ("<input aria-label=X type=range>", "much", "a number from 0 to 100"),
    ],
)
def test_typing_that_cannot_be_is_refused_with_the_reason(read: Read, html: str, text: str, why: str) -> None:
    refused(read(html), why, hands.type_text, "e1", text)


def test_options_are_chosen_by_label_or_value(read: Read) -> None:
    page = read(LOG + "<select id=s aria-label=S><option value=1>One<option value=2>Two</select>")
    page.do(hands.select_option, 'combobox "S"', ["Two"])
    assert page.js("s.value") == "2"
    page.do(hands.select_option, 'combobox "S"', ["1"])
    assert page.js("s.value") == "1"
    assert [entry[:6] for entry in page.js("log") if entry[0] in "ic"] == ["input?", "change", "input?", "change"]


def test_an_unknown_option_is_answered_with_the_options(read: Read) -> None:
    refused(read("<select aria-label=S><option>One<option disabled>Two</select>"),
            'no option "Three"; its options "One" selected, "Two" disabled', hands.select_option, "e1", ["Three"])  # fmt: skip


def test_checking_is_a_click_and_only_where_needed(read: Read) -> None:
    page = read(LOG + "<label><input id=x type=checkbox>Ok</label>")
    page.do(hands.set_checked, 'checkbox "Ok"', checked=True)
    page.do(hands.set_checked, 'checkbox "Ok"', checked=True)
    assert page.js("x.checked") is True
    assert page.js("log").count("change:x") == 1


def test_a_hidden_checkbox_is_checked_through_its_label(read: Read) -> None:
    page = read("<label id=l><input id=x type=checkbox style='display:none'>Ok</label>")
    page.do(hands.set_checked, 'checkbox "Ok"', checked=True)
    assert page.js("x.checked") is True


def test_a_checkbox_that_redraws_its_list_was_checked(read: Read) -> None:
    page = read(
        "<div id=d><label><input type=checkbox>Ok</label></div><script>d.onchange=()=>{d.innerHTML='1 found'}</script>"
    )
    page.do(hands.set_checked, 'checkbox "Ok"', checked=True)
    assert page.js("d.textContent") == "1 found"


def test_what_lies_under_a_bar_is_scrolled_into_the_open(read: Read) -> None:
    page = read(LOG + "<div style='height:690px'></div><button id=b>Low</button><div style='height:900px'></div>"
                "<div style='position:fixed;bottom:0;width:100%;height:90px;background:#eee'>We use cookies</div>")  # fmt: skip
    page.do(hands.click, 'button "Low"')
    assert "click:b" in page.js("log")


@pytest.mark.parametrize("link", ["<a href=/file>x</a>", "<a href=/nothing>x</a>", "<a href=mailto:a@b.test>x</a>", "<a href=/file download>x</a>",
                                  "<a href='javascript:void 0'>x</a>", "<a href=#top>x</a>", "<a href=/file target=_blank>x</a>"])  # fmt: skip
def test_a_link_that_leads_to_no_page_does_not_hold_one_up(read: Read, link: str) -> None:
    page = read({"/": link, "/file": attachment, "/nothing": no_content})
    page.run(hands.click(page.tab, 'link "x"'))
    started = time.monotonic()
    page.window.look()
    # Much less than the thirty seconds that are waited for a page to come to rest.
    assert time.monotonic() - started < 10


async def attachment(scope: Any) -> tuple[int, dict[str, str], str]:
    return 200, {"content-disposition": "attachment; filename=a.txt", "content-type": "text/plain"}, "hello"


async def no_content(scope: Any) -> tuple[int, dict[str, str], str]:
    return 204, {}, ""


def test_native_drag_and_drop_works(read: Read) -> None:
    page = read(LOG + "<div id=a draggable=true>Card</div><div id=b style='height:100px' aria-label=Bin tabindex=0></div>"
                "<script>b.ondragover = (e) => e.preventDefault(); b.ondrop = () => b.textContent = 'dropped'</script>")  # fmt: skip
    page.do(hands.drag, 'clickable "Card"', to='clickable "Bin"')
    assert page.js("b.textContent") == "dropped"


def test_a_drag_by_a_distance_moves_the_mouse_in_steps(read: Read) -> None:
    page = read(
        "<div id=a tabindex=0>Card</div><script>n = 0; onmousemove = (e) => n += e.buttons; onmouseup = (e) => end = e.pageX</script>"
    )
    page.do(hands.drag, 'clickable "Card"', dx=100, dy=50)
    assert page.js("n") >= 5


def test_scrolling_says_where_it_is_and_where_it_cannot(read: Read) -> None:
    page = read("<div style='height:3000px'>x</div>")
    assert page.do(hands.scroll, "down").startswith("scrolled to 576 of ")
    refused(page, "cannot be scrolled left", hands.scroll, "left")
    refused(page, "no direction", hands.scroll, "sideways")


def test_a_page_has_been_told_of_a_scroll_before_it_is_answered(read: Read) -> None:
    page = read("<div style='height:3000px'>x</div><script>onscroll = () => window.told = scrollY</script>")
    page.do(hands.scroll, "down")
    assert page.js("window.told") == 576


def test_a_text_is_selected_across_elements(read: Read) -> None:
    page = read("<p>one <b>two</b>\n three</p>")
    page.do(hands.select_text, 'text "one two three"', "two three")
    assert page.js("getSelection().toString()") == "two three"


def test_files_are_given_to_a_file_input(read: Read) -> None:
    page = read(LOG + "<input id=x type=file aria-label=F>")
    page.do(hands.upload_file, 'file "F"', {"a.txt": b"hello"})
    assert page.js("x.files[0].text()") == "hello"
    assert page.js("x.files[0].type") == "text/plain"
    refused(page, "takes one file, not 2", hands.upload_file, 'file "F"', {"a": b"", "b": b""})


def test_elements_in_frames_are_acted_on(read: Read) -> None:
    page = read({"/": "<div style='height:2000px'></div><iframe src=http://b.test/in style='margin:30px;border:9px solid'></iframe>",
                 "/in": "<div style='height:900px'></div><button onclick='this.textContent=\"hit\"'>In</button>"})  # fmt: skip
    page.do(hands.click, 'button "In"')
    assert 'button "hit"' in page.text()


def test_keys_go_to_what_has_the_focus_or_to_an_element(read: Read) -> None:
    page = read(LOG + "<input id=a aria-label=A value=abc><input id=b aria-label=B>")
    page.do(hands.press, "Control+a", 'textbox "A"')
    page.do(hands.press, "x")
    page.do(hands.press, "Tab")
    assert page.js("a.value") == "x"
    assert page.js("document.activeElement.id") == "b"
    refused(page, "'Foo' is no key", hands.press, "Foo")


@pytest.mark.parametrize(
    ("written", "pressed"),
    [("shift+tab", "Shift Tab"), ("ENTER", "Enter"), ("arrowdown", "ArrowDown"), ("f5", "F5"), ("a", "a"), ("A", "A"),
     ("ctrl+keya", "Control a"), ("pageUp", "PageUp"), ("numpadenter", "Enter")],
)  # fmt: skip
def test_keys_have_names_in_any_case(read: Read, written: str, pressed: str) -> None:
    page = read("<p id=p></p><script>onkeydown = e => (p.append(e.key + ' '), e.preventDefault())</script>")
    page.do(hands.press, written)
    assert page.text() == f'"{pressed}"'


def test_every_key_that_has_a_name_can_be_pressed(read: Read) -> None:
    page = read("Home")
    for name in _keys._NAMES:
        page.do(hands.press, name)


def test_settling_waits_for_what_an_action_began_and_no_longer(read: Read) -> None:
    page = read({"/": "<button id=b>Go</button><p id=p></p><script>b.onclick = () => setTimeout(async () => {"
                      "p.textContent = await (await fetch('/x')).text(); setTimeout(() => p.append('!'), 100) }, 200);"
                      "setInterval(() => 1, 50)</script>", "/x": "late"})  # fmt: skip
    page.do(hands.click, 'button "Go"')
    assert page.js("p.textContent") == "<!doctype html>late!"
    taken = []
    for _ in range(9):
        started = time.monotonic()
        page.run(rest(page.tab, cap_s=60))
        taken.append(time.monotonic() - started)
    assert min(taken) < 0.3


def test_a_movement_that_is_drawn_frame_by_frame_is_over_before_it_is_told(read: Read) -> None:
    page = read("<button id=b>Go</button><p id=p></p><script>b.onclick = () => { let left = 40; const on = () => {"
                "p.textContent = left; if (left--) requestAnimationFrame(on) }; on() }</script>")  # fmt: skip
    page.do(hands.click, 'button "Go"')
    assert page.js("p.textContent") == "0"


@pytest.mark.parametrize(
    "loop",
    [
        "const again = () => setTimeout(again, 20); again()",
        "const again = () => requestAnimationFrame(again); again()",
        "(async () => { for (;;) await new Promise((next) => setTimeout(next, 20)) })()",
        "setInterval(() => 1, 20)",
        "setInterval(() => document.title += 'x', 300)",
    ],
)
def test_a_clock_of_the_page_is_not_waited_for(read: Read, loop: str) -> None:
    page = read(f"<button>Go</button><script>{loop}</script>")
    page.run(rest(page.tab, cap_s=60))


def test_a_page_that_never_rests_is_said_to(read: Read) -> None:
    page = read(
        {"/": "<p id=p></p><script>setInterval(() => p.textContent += 'x', 1); fetch('/x')</script>", "/x": never},
        settle_s=0.3,
    )
    with pytest.raises(TimeoutError, match="the page is busy"):
        page.run(rest(page.tab, cap_s=0.3))


async def never(scope: Any) -> tuple[int, dict[str, str], str]:
    await asyncio.sleep(300)
    return 200, {}, ""


def test_a_debounce_that_reads_the_clock_fires(read: Read) -> None:
    page = read("<input aria-label=A><p id=p></p><script>let at; const check = () => Date.now() - at >= 100 ? p.textContent = 'fired' :"
                "setTimeout(check, 100 - (Date.now() - at)); oninput = () => { at = Date.now(); setTimeout(check, 100) }</script>")  # fmt: skip
    page.do(hands.type_text, 'textbox "A"', "x")
    assert page.js("p.textContent") == "fired"


def test_marks_say_where_references_are(read: Read) -> None:
    page = read(
        "<body style='margin:0'><button style='position:absolute;left:10px;top:20px;width:30px;height:40px'>B</button>"
    )
    page.text()
    assert page.run(hands.marks(page.tab)) == {"e1": (10, 20, 30, 40)}
