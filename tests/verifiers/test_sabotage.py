"""Sabotage replaces exactly what tests use of a repository, wherever it is defined."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from agent_envs.verifiers.swe.sabotage import modules_of, planting, targets_of

PATHS = ["src/shop/__init__.py", "src/shop/cart.py", "src/shop/money/__init__.py", "tests/test_cart.py", "setup.py"]
MODULES = modules_of(PATHS, ["src"])


def test_modules_are_named_as_they_are_imported() -> None:
    assert MODULES == {
        "shop": "src/shop/__init__.py",
        "shop.cart": "src/shop/cart.py",
        "shop.money": "src/shop/money/__init__.py",
    }


def test_a_flat_layout_has_its_modules_at_the_top() -> None:
    assert modules_of(["shop.py", "lib/x.py"], ["."]) == {"shop": "shop.py", "lib.x": "lib/x.py"}


@pytest.mark.parametrize(
    ("source", "targets"),
    [
        ("from shop import Cart, cart", ("shop:Cart",)),
        ("from shop.cart import total as t", ("shop.cart:total",)),
        ("import shop\nshop.buy(1)\nshop.cart.total()", ("shop:buy",)),
        ("import shop.cart as c\nc.total()", ("shop.cart:total",)),
        ("from shop import cart\ncart.total()", ("shop.cart:total",)),
        ("import os\nfrom json import loads\nos.getcwd()", ()),
        ("from shop import *", ()),
        ("this is no Python", ()),
    ],
)
def test_targets_are_what_the_tests_name(source: str, targets: tuple[str, ...]) -> None:
    assert targets_of([source], MODULES) == targets


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    source = "from math import sqrt\nX = 1\nclass Cart:\n    add = lambda self: 2\n    see = lambda self: 3\n"
    path = tmp_path / "planted_here.py"
    path.write_text(source + planting(["planted_here:sqrt", "planted_here:Cart.add"])["planted_here"])
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "planted_here", raising=False)
    return __import__("planted_here")


def test_what_is_sabotaged_raises_and_the_rest_works(planted: ModuleType) -> None:
    with pytest.raises(RuntimeError):
        planted.sqrt(4)
    with pytest.raises(RuntimeError):
        planted.Cart().add()
    assert (planted.Cart().see(), planted.X) == (3, 1)
