"""What scripted players of other people's pages have found lacking, each by a small page of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from agent_envs.browser import _hands as hands
from agent_envs.errors import ToolFailed

Read = Callable[..., Any]


def test_a_click_waits_for_what_hovering_changes(read: Read) -> None:
    page = read(
        "<style>#b:hover { width: 0; height: 0; padding: 0; border: 0; overflow: hidden }</style>"
        "<button id=b>Menu</button>"
        "<script>b.onmouseenter = () => setTimeout(() => { document.querySelector('style').remove() }, 30);"
        "b.onclick = () => { document.title = 'open' }</script>"
    )
    page.do(hands.click, 'button "Menu"')
    assert page.js("document.title") == "open"


@pytest.mark.parametrize(
    "reacts",
    [
        "<script>onmousemove = (event) => { if (event.target === b) b.style.marginLeft = '300px' }</script>",
        "<script>b.onpointerenter = () => { b.style.marginLeft = '300px' }</script>",
        "<script>b.addEventListener('mouseover', () => { b.style.marginLeft = '300px' })</script>",
    ],
)
def test_what_evades_the_mouse_is_followed(read: Read, reacts: str) -> None:
    page = read(f"<main><button id=b onclick=\"document.title = 'pressed'\">Go</button></main>{reacts}")
    page.do(hands.click, 'button "Go"')
    assert page.js("document.title") == "pressed"


@pytest.mark.parametrize(
    ("rest", "calm"),
    [
        ("<style>#b:hover { color: red; background: blue; text-decoration: underline }</style>", True),
        ("<style>#b:hover { margin-left: 300px }</style>", False),
        ("<style>@media all { p, main:hover #b { display: none } }</style>", False),
        ("<style>main { &:hover { transform: none } }</style>", False),
        ("<style>main:hover { p { color: red } }</style>", False),
        ("<p onmouseleave='1'>", False),
        ("<script>document.onpointermove = () => 1</script>", False),
        ("<script>addEventListener('mouseout', () => 1)</script>", False),
        ("<script>addEventListener('click', () => 1); b.onmousedown = () => 1</script>", True),
        (
            "<script>document.querySelector('main').attachShadow({ mode: 'open' }).innerHTML = '<slot></slot>'</script>",
            False,
        ),
        ("<link rel=stylesheet href=http://b.test/other.css>", False),
    ],
)
def test_a_document_is_calm_where_it_cannot_react_to_the_mouse(read: Read, rest: str, calm: bool) -> None:
    page = read(f"<main><button id=b>Go</button></main>{rest}")
    found = page.run(hands.locate(page.tab, 'button "Go"'))
    assert page.run(found.ask("aim", True))["calm"] is calm


def test_what_covers_a_thing_under_the_mouse_is_named(read: Read) -> None:
    page = read(
        "<style>div { position: fixed; inset: 0 } button { margin: 40px }</style><button id=b>Go</button><div hidden id=d>"
        "<p role=dialog aria-label=Tip>Tip</div><script>b.onmouseover = () => { d.hidden = false }</script>"
    )
    with pytest.raises(ToolFailed, match=r'covered by .* dialog "Tip"'):
        page.do(hands.click, 'button "Go"')


def test_a_page_is_told_of_each_press_once(read: Read) -> None:
    page = read(
        "<button id=b>A</button><script>told = []; for (const type of ['mousedown', 'mouseup', 'click', 'auxclick',"
        "'dblclick', 'contextmenu']) b.addEventListener(type, (event) => { told.push(type) })</script>"
    )
    page.do(hands.click, 'button "A"', double=True)
    assert page.js("told") == ["mousedown", "mouseup", "click", "mousedown", "mouseup", "click", "dblclick"]
    page.do(hands.click, 'button "A"', button="right")
    assert page.js("told")[7:] == ["mousedown", "contextmenu", "mouseup", "auxclick"]


def test_what_is_scrolled_out_of_its_box_is_scrolled_back_before_a_click(read: Read) -> None:
    page = read(
        "<div style='height:60px;overflow:auto'><div style='height:200px'></div>"
        "<button onclick='document.title=1'>Low</button></div>"
    )
    page.do(hands.click, 'button "Low"')
    assert page.js("document.title") == "1"


def test_the_items_of_a_list_that_listens_can_be_acted_on(read: Read) -> None:
    page = read(
        "<ul id=u><li>One</li><li>Two</li></ul><script>u.onmousedown = (e) => { title = e.target.innerText }</script>"
    )
    assert 'clickable "One"\n' in page.text() + "\n"
    page.do(hands.click, 'clickable "Two"')
    assert page.js("title") == "Two"


def test_a_drop_goes_beyond_the_middle(read: Read) -> None:
    page = read(
        "<div id=a style='width:50px;height:20px' onclick=''>A</div><div id=b style='width:50px;height:20px' onclick=''>B"
        "</div><script>onmouseup = (e) => { y = e.clientY - b.getBoundingClientRect().top }</script>"
    )
    page.do(hands.drag, 'clickable "A"', to='clickable "B"')
    assert 10 < page.js("y") < 20


def test_what_has_no_words_says_how_it_is_marked_and_pictured(read: Read) -> None:
    page = read(
        "<style>span { content: url(/cross.png) }</style>"
        "<div id=field-1 onclick='' style='width:20px;height:20px'><span class=mark-x></span></div>"
    )
    assert 'clickable id "field-1" class "mark-x" image "cross.png"' in page.text()


def test_a_text_area_says_that_it_has_lines_and_where_it_is_scrolled_to(read: Read) -> None:
    page = read(f"<textarea rows=2 aria-label=Terms>{'line &#10;' * 40}</textarea><input aria-label=Name>")
    assert "multiline scrolled 0 of " in page.text()
    page.do(hands.press, "Control+End", 'textbox "Terms"')
    assert "scrolled 0 of" not in page.text()
    assert page.text().count("multiline") == 1


def test_a_wait_for_nothing_takes_no_time(read: Read) -> None:
    page = read("<button>Buy</button>")
    began = time.monotonic()
    page.window.wait_for(seconds=0)
    assert time.monotonic() - began < 25


PICTURES = """<div style="height:40px;overflow:auto"></div><script>
onload = () => {
  for (let n = 0; n < 10; n++) {
    const picture = document.querySelector("div").appendChild(new Image());
    picture.style.display = "block";
    picture.src = `/${n}.svg`;
  }
};</script>"""


async def picture(scope: Any) -> tuple[int, dict[str, str], str]:
    drawn = "<rect width='9' height='9'/>" * 3000
    content = f'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="500">{drawn}</svg>'
    return 200, {"content-type": "image/svg+xml"}, content


def test_pictures_have_their_size_when_a_page_has_come_to_rest(open_pages) -> None:
    pages = {"/": PICTURES, **{f"/{n}.svg": picture for n in range(10)}}
    for _ in range(6):
        lines = open_pages(pages).look().lines
        assert any("scrolled 0 of 4960 px" in line for line in lines), lines
