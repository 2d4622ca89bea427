"""What a page is said to be: nothing is lost that a task needs, and nothing is said that is not so."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_envs.browser import _hands as hands
from agent_envs.browser._hands import click

Read = Callable[..., Any]
ON_PURPOSE = "on purpose: "
HERE = Path(__file__).parent / "pages"
SAMPLE = {f"/{path.name}": path.read_text("utf-8").removeprefix("<!doctype html>") for path in HERE.glob("*.html")}


@pytest.fixture
def sample(read: Read) -> str:
    return str(read(SAMPLE, start="/sample.html").text())


@pytest.mark.parametrize(
    "line",
    [
        'textbox "Name" = "Blue kettle" required focused',
        'spinbutton "Price" = "19.90"',
        'date "Release date" = "2024-05-01"',
        'textbox "Notes" placeholder "Internal notes"',
        'combobox "Category" options "Kitchen", "Garden" selected, "Office" disabled',
        'checkbox "Published" checked',
        'radio "Tax A"\n',
        'radio "Tax B" checked',
        'file "Photo" files 0',
        'textbox "Description" = "Keeps water hot"',
        'button "Save" disabled',
        'button "More options" collapsed',
        '- "steel" [e',
        'button "Remove steel"',
        'table "Stock"\n    header "Warehouse" | "Qty"\n    "Lyon" | "4"\n    "Oslo" | "0"',
        'clickable "Clickable card (div)"',
        'canvas "Sparkline" 120x40',
        'img "Kettle photo"',
        'button "Shipping" collapsed',
        'iframe "Reviews"\n    "Great kettle!"\n    [e',
        'textbox "Reply" = "thanks"',
        'iframe "Ads"\n    [e',
        'link "Buy now" -> /buy',
        '"Rating:" [e',
        'slider "Your rating" = "3"',
        '"Offscreen note"',
        'link "Products" current -> #',
    ],
)
def test_the_sample_page_loses_nothing(sample: str, line: str) -> None:
    assert line in sample


@pytest.mark.parametrize("hidden", ["Hidden paragraph", "Decorative star", "2 days", "Delete this product?"])
def test_what_nobody_sees_is_not_shown(sample: str, hidden: str) -> None:
    assert hidden not in sample


def test_a_dialog_hides_what_it_covers(read: Read) -> None:
    text = read(SAMPLE, start="/sample.html?modal").text()
    assert text.split("\n")[1:] == [
        'dialog "Confirm delete"', '  "Delete this product?"', '  [e1] button "Cancel"', '  [e2] button "Delete"'
    ]  # fmt: skip
    assert text.startswith("(23 controls of the page are covered and not shown)")


def test_a_native_modal_dialog_hides_the_page(read: Read) -> None:
    text = read(
        "<button>Below</button><dialog id=d><button>Above</button></dialog><script>d.showModal()</script>"
    ).text()
    assert '"Above"' in text
    assert '"Below"' not in text


def test_a_dialog_that_lies_beside_its_backdrop_is_shown(read: Read) -> None:
    text = read(
        "<button>Below</button><div style='position:fixed;inset:0;background:#0008'></div>"
        "<div style='position:fixed;left:300px;top:200px;width:400px;height:200px;background:#fff'><button>Above</button>"
    ).text()
    assert '"Above"' in text
    assert '"Below"' not in text


def test_a_layer_that_lets_clicks_through_hides_nothing(read: Read) -> None:
    text = read("<button>Below</button><div style='position:fixed;inset:0;pointer-events:none'></div>").text()
    assert '[e1] button "Below"' in text


def test_passwords_are_masked(read: Read) -> None:
    text = read("<label>Password <input type=password value=hunter2></label>").text()
    assert text == '[e1] textbox "Password" = "••••"'


@pytest.mark.parametrize(
    ("html", "line"),
    [
        ("<button aria-pressed=true>Bold</button>", '[e1] button "Bold" pressed'),
        ("<div role=tab aria-selected=true tabindex=0>One</div>", '[e1] tab "One" selected'),
        ("<input aria-label=Age type=number value=3 readonly>", '[e1] spinbutton "Age" = "3" readonly'),
        ("<button aria-expanded=true>Menu</button>", '[e1] button "Menu" expanded'),
        ("<span id=a>First</span><input aria-labelledby=a>", '"First" [e1] textbox "First"'),
        ("<input title=Amount>", '[e1] textbox "Amount"'),
        ("<input placeholder=Search>", '[e1] textbox "Search"'),
        ("<a href=/x><img alt=Logo src=y></a>", '[e1] link "Logo" -> /x'),
        ("<h2>About <b>us</b></h2>", 'h2 "About us"'),
        ("<ol><li>a<li>b</ol>", '1. "a"\n2. "b"'),
        ("<ul><li>a<ul><li>b</ul></ul>", '- "a"\n  - "b"'),
        ("<fieldset><legend>Size</legend><input type=radio aria-label=S></fieldset>", 'group "Size"\n  [e1] radio "S"'),
        ("<div>one</div><div>two</div>", '"one"\n"two"'),
        ("<input type=checkbox> Red", '[e1] checkbox "" "Red"'),
        ("<p>see <a href=#x>this</a> now", '"see" [e1] link "this" -> #x "now"'),
        ("<div aria-label=x role=switch aria-checked=true tabindex=0></div>", '[e1] switch "x" checked'),
        ("<label><input type=checkbox style='display:none'> Terms</label>", '[e1] checkbox "Terms"'),
        ("<progress max=10 value=3 aria-label=Done></progress>", 'progressbar "Done" = 3 of 10'),
        ("<select multiple aria-label=L><option selected>a<option>b</select>", '[e1] listbox "L" options "a" selected, "b"'),
        ("<div style='background:red;width:20px;height:20px;cursor:pointer'></div>", "[e1] clickable red 20x20"),
        ("<div style='opacity:0'>gone</div><p>here", '"here"'),
        ("<div style='height:0;overflow:hidden'><button>gone</button></div><p>here", '"here"'),
        ("<div style='visibility:hidden'>gone <b style='visibility:visible'>here</b></div>", '"here"'),
        ("<table><tr role=row onclick=x()><td>a<td>b</table>", 'table\n  [e1] row "a" | "b"'),
        ("<div style='height:40px;overflow:auto'><p style='height:100px'>far</div>", '[e1] scrollable scrolled 0 of 92 px\n  "far"'),
    ],
)  # fmt: skip
def test_one_thing_is_one_line(read: Read, html: str, line: str) -> None:
    assert read(html).text() == line


def test_handlers_that_scripts_add_make_an_element_clickable(read: Read) -> None:
    text = read(
        "<span id=a>One</span><p>Two<p id=c>Three<script>a.addEventListener('click',()=>1);c.onmousedown=()=>1</script>"
    ).text()
    assert text == '[e1] clickable "One"\n"Two"\n[e2] clickable "Three"'


def test_a_handler_inside_a_shadow_tree_is_seen(read: Read) -> None:
    text = read("<div id=h></div><script>h.attachShadow({mode:'open'}).innerHTML='<b>In</b>';"
                "h.shadowRoot.querySelector('b').addEventListener('click',()=>1)</script>").text()  # fmt: skip
    assert text == '[e1] clickable "In"'


def test_slotted_content_is_where_its_slot_is(read: Read) -> None:
    text = read(
        "<div id=h><b>mine</b></div><script>h.attachShadow({mode:'open'}).innerHTML='<p>before</p><slot></slot><p>after</p>'</script>"
    ).text()
    assert text == '"before"\n"mine"\n"after"'


def test_shapes_are_described(read: Read) -> None:
    text = read(
        "<svg width=100 height=100><circle cx=20 cy=20 r=10 fill=red /><rect x=50 y=50 width=20 height=20 fill=blue /></svg>"
    ).text()
    assert text == "[e1] drawing 100x100\n  [e2] circle red 20x20 at 10,10\n  [e3] rect blue 20x20 at 50,50"


def test_the_controls_in_a_drawing_are_controls(read: Read) -> None:
    page = read(
        "<svg width=100 height=100><g role=button aria-label=Dot tabindex=0 onclick=\"document.title='ok'\"><circle r=9 cx=9"
        " cy=9 /></g><rect width=9 height=9 x=50 /><a href=#x><text y=60>Go</text></a></svg>"
        "<svg width=100 height=100 aria-label=Map><path role=checkbox aria-checked=true aria-label=France d='M1 1L50 50V1'/>"
        "<path d='M1 1L9 9'/></svg>"
    )
    assert page.text().splitlines() == [
        *["[e1] drawing 100x100", '  [e2] button "Dot"', "  [e3] rect black 9x9 at 50,0", '  [e4] link "Go" -> #x'],
        *['img "Map"', '  [e5] checkbox "France" checked'],
    ]
    page.do(hands.click, 'button "Dot"')
    assert page.js("document.title") == "ok"


def test_the_areas_of_an_image_are_told_and_reached(read: Read) -> None:
    page = read(
        "<img src='data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=' usemap=#m alt=Plan width=100 height=100"
        " style='border:5px solid;padding:3px'><map name=m>"
        "<area coords=0,0,40,40 href=#a alt=Hall><area shape=circle coords=80,80,15 href=#b alt=Tower>"
        "<area shape=poly coords=60,0,100,0,100,40 href=#c alt=Garden><area coords=1,1,2,2 alt=Nothing></map>"
    )
    assert page.text().splitlines() == [
        *['img "Plan"', '  [e1] link "Hall" -> #a', '  [e2] link "Tower" -> #b', '  [e3] link "Garden" -> #c'],
    ]
    for name, target in (("Hall", "#a"), ("Tower", "#b"), ("Garden", "#c")):
        page.do(hands.click, f'link "{name}"')
        assert page.js("location.hash") == target


def test_a_reference_stays_with_its_element(read: Read) -> None:
    page = read("<div id=box><button>A</button><button id=b>B</button></div>")
    assert page.text() == '[e1] button "A"\n[e2] button "B"'
    page.js("box.prepend(b); b.textContent = 'C'")
    assert page.text() == '[e2] button "C"\n[e1] button "A"'


def test_a_reference_is_never_given_again(read: Read) -> None:
    page = read({"/": "<a href=/2>On</a>", "/2": "<button>B</button>"})
    assert "[e1]" in page.text()
    page.do(click, "e1")
    assert page.text() == '[e2] button "B"'


FRAMES = {
    "/": "<iframe src=http://b.test/in title=T></iframe>",
    "/in": "<button>In</button><iframe src=http://a.test/deep>",
    "/deep": "<p>Deep",
}


def test_a_frame_of_another_origin_is_read(read: Read) -> None:
    assert read(FRAMES).text() == '[e1] iframe "T"\n  [e2] button "In"\n  [e3] iframe\n    "Deep"'


def test_a_frame_in_a_process_of_its_own_is_read(read: Read) -> None:
    if not shutil.which("chromium"):
        pytest.skip(ON_PURPOSE + "only the whole browser gives frames processes of their own")
    page = read(FRAMES, executable="chromium")
    assert page.text() == '[e1] iframe "T"\n  [e2] button "In"\n  [e3] iframe\n    "Deep"'
    page.do(click, "e2")
    assert '[e2] button "In" focused' in page.text()


def test_a_backdrop_behind_the_page_hides_nothing(read: Read) -> None:
    text = read("<div style='position:fixed;inset:0;z-index:-1;background:#eee'></div><button>A</button>").text()
    assert text == '[e1] button "A"'


def test_suggestions_of_a_field_are_listed(read: Read) -> None:
    text = read("<input list=l aria-label=C><datalist id=l><option value=Rome><option value=Oslo></datalist>").text()
    assert text == '[e1] combobox "C" options "Rome", "Oslo"'


def test_nothing_is_left_in_the_page(read: Read) -> None:
    page = read("<button>A</button>")
    before = page.js("document.documentElement.outerHTML + Object.getOwnPropertyNames(window).length")
    page.look()
    assert page.js("document.documentElement.outerHTML + Object.getOwnPropertyNames(window).length") == before


def test_the_same_page_reads_the_same(read: Read) -> None:
    html = "<p id=p></p><button>x</button><script>p.textContent = Math.random() + crypto.getRandomValues(new Uint8Array(9)) + new Date()</script>"
    assert read(html).text() == read(html).text()
    assert "2026" in read(html).text()


NOW = [
    "new Intl.DateTimeFormat('en').format()", "new Intl.DateTimeFormat('en').formatToParts().map((p) => p.value).join('')",
    "[new Date()].map(new Intl.DateTimeFormat('en').format)[0]", "new Date().toLocaleDateString('en')", "document.lastModified",
    "new Date(new File([], 'x').lastModified).toISOString()", "Temporal.Now.plainDateISO()", "Temporal.Now.instant()",
    "Temporal.Now.zonedDateTimeISO('UTC')", "Temporal.Now.plainDateTimeISO()", "Date()",
]  # fmt: skip


@pytest.mark.parametrize("clock", NOW)
def test_every_calendar_shows_the_day_of_the_episode(read: Read, clock: str) -> None:
    seen = read(
        f"<p id=p></p><script>p.textContent = typeof Temporal === 'undefined' && {'Temporal' in clock:d} ? '2026' : {clock}</script>"
    ).text()
    assert re.search(r"3/10/2026|2026-03-10|Mar 10 2026|^\W*2026\W*$", seen), seen


def test_a_calendar_formats_other_days_too(read: Read) -> None:
    day = "new Intl.DateTimeFormat('en').format(new Date(0))"
    assert '"1/1/1970"' in read(f"<p id=p></p><script>p.textContent = {day}</script>").text()


def test_no_address_is_shown_that_real_chance_has_made(read: Read) -> None:
    seen = read("<a id=a>Export</a><script>a.href = URL.createObjectURL(new Blob(['x']))</script>").text()
    assert 'link "Export" -> blob:' in seen
    assert "a.test/" not in seen.partition("link")[2]


def test_chance_differs_between_seeds_and_between_pages(read: Read) -> None:
    html = "<p id=p></p><script>p.textContent = Math.random()</script>"
    one, other = read({"/": html, "/2": html}), read(html, seed=2)
    first = one.text()
    one.window.navigate("http://a.test/2")
    assert len({first, other.text(), one.text()}) == 3
