"""What runs in the interpreters of the systems that AgentRL/Web-v0 and AgentRL/MiniWoB-v0 are compared with.

Each is told by its environment which browser to start, where MiniWoB's pages lie, which page to open, through which
proxy, and where to write what it saw of that page; see `peers.py` for how a driver is called.
"""

from __future__ import annotations

CHROMIUM, MINIWOB, PAGE, PROXY, SEEN = (
    "BENCHMARK_CHROMIUM",
    "MINIWOB_URL",
    "BENCHMARK_PAGE",
    "BENCHMARK_PROXY",
    "BENCHMARK_SEEN",
)

# BrowserGym starts a second browser for its chat, and only from where Playwright would have installed one.
_BROWSERGYM = """
import os, pathlib, re, tempfile
home = tempfile.TemporaryDirectory(dir=".")
there = pathlib.Path(home.name).resolve() / "chromium-1117/chrome-linux/chrome"
there.parent.mkdir(parents=True)
there.symlink_to(os.environ["BENCHMARK_CHROMIUM"])
os.environ["PLAYWRIGHT_BROWSERS_PATH"] = home.name
import gymnasium as gym
import browsergym.miniwob
from browsergym.utils.obs import flatten_axtree_to_str
def bid(text, role, name=""):
    return re.search(rf"\\[(\\w+)\\] {role} '{name}", text)[1]
def end():
    env.close()
    home.cleanup()
"""

BROWSERGYM_RESET = (
    _BROWSERGYM
    + """
env = gym.make("browsergym/miniwob.click-button")
def once():
    env.reset(seed=1)
"""
)

BROWSERGYM_NOOP = (
    _BROWSERGYM
    + """
env = gym.make("browsergym/miniwob.click-button")
env.reset(seed=1)
def once():
    assert not env.step("noop(0)")[0]["last_action_error"]
"""
)

BROWSERGYM_CLICK = (
    _BROWSERGYM
    + """
env = gym.make("browsergym/miniwob.click-button")
def once():
    seen, _ = env.reset(seed=1)
    wanted = re.search(r'"(.*)"', seen["goal"])[1]
    action = f"click({bid(flatten_axtree_to_str(seen['axtree_object']), 'button', wanted)!r})"
    began = time.perf_counter()
    _, reward, terminated, _, _ = env.step(action)
    took = time.perf_counter() - began
    assert terminated and reward > 0
    return took
"""
)

_BROWSERGYM_PAGE = (
    _BROWSERGYM
    + """
proxied = {"proxy": {"server": os.environ["BENCHMARK_PROXY"]}}
task = {"start_url": os.environ["BENCHMARK_PAGE"], "goal": "look"}
env = gym.make("browsergym/openended", task_kwargs=task, pw_chromium_kwargs=proxied)
seen, _ = env.reset()
text = flatten_axtree_to_str(seen["axtree_object"])
pathlib.Path(os.environ["BENCHMARK_SEEN"]).write_text(text)
"""
)

BROWSERGYM_LOOK = (
    _BROWSERGYM_PAGE
    + """
def once():
    flatten_axtree_to_str(env.unwrapped._get_obs()["axtree_object"])
"""
)

BROWSERGYM_CLICK_ON_PAGE = (
    _BROWSERGYM_PAGE
    + """
action = f"click({bid(text, 'button')!r})"
def once():
    seen = env.step(action)[0]
    assert not seen["last_action_error"]
    flatten_axtree_to_str(seen["axtree_object"])
"""
)

_PLAYWRIGHT = """
import os, pathlib
from playwright.sync_api import sync_playwright
playwright = sync_playwright().start()
browser = playwright.chromium.launch(executable_path=os.environ["BENCHMARK_CHROMIUM"])
def opened():
    context = browser.new_context(proxy={"server": os.environ["BENCHMARK_PROXY"]})
    page = context.new_page()
    page.goto(os.environ["BENCHMARK_PAGE"])
    return page
def end():
    browser.close()
    playwright.stop()
"""

PLAYWRIGHT_OPEN = (
    _PLAYWRIGHT
    + """
def once():
    opened().context.close()
"""
)

_PLAYWRIGHT_PAGE = (
    _PLAYWRIGHT
    + """
page = opened()
pathlib.Path(os.environ["BENCHMARK_SEEN"]).write_text(page.aria_snapshot(mode="ai"))
"""
)

PLAYWRIGHT_LOOK = (
    _PLAYWRIGHT_PAGE
    + """
def once():
    page.aria_snapshot(mode="ai")
"""
)

PLAYWRIGHT_CLICK = (
    _PLAYWRIGHT_PAGE
    + """
button = page.get_by_role("button").first
def once():
    button.click()
    page.aria_snapshot(mode="ai")
"""
)

# Its vocabulary is part of the package, so it works where nothing can be fetched.
TOKENS = """
import os, pathlib
from rs_bpe.bpe import openai
vocabulary = openai.o200k_base()
def once():
    return vocabulary.count(pathlib.Path(os.environ["BENCHMARK_SEEN"]).read_text())
"""
