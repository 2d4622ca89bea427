"""The shop as an application: which address is answered by what."""

from __future__ import annotations

import agent_envs.envs.web.sites.shop._account_pages as account
import agent_envs.envs.web.sites.shop._cart_pages as cart
import agent_envs.envs.web.sites.shop._checkout_pages as checkout
import agent_envs.envs.web.sites.shop._order_pages as order
import agent_envs.envs.web.sites.shop._shop_pages as shop
from agent_envs.envs.web.sites.shop._common import not_found, pages
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


async def _help(request: Request) -> Response:
    return pages.answer(request, "help.html")


def application() -> Starlette:
    """The application that `SHOP` serves."""
    get = [
        ("/", shop.home), ("/c/{slug}", shop.category), ("/search", shop.results), ("/suggest", shop.suggest),
        ("/offers", shop.offers), ("/p/{slug}", shop.product), ("/compare", shop.compare), ("/help", _help),
        ("/cart", cart.cart), ("/checkout", checkout.delivery), ("/checkout/payment", checkout.payment),
        ("/orders", order.orders), ("/orders/{number}", order.order), ("/orders/{number}/return", order.send_back),
        ("/sign-in", account.sign_in), ("/account", account.account), ("/account/profile", account.profile),
        ("/account/addresses", account.addresses), ("/account/addresses/new", account.address),
        ("/account/addresses/{id:row}", account.address), ("/wishes", account.wishes),
    ]  # fmt: skip
    post = [
        ("/p/{slug}/reviews", shop.review), ("/compare", shop.change_comparison), ("/cart/add", cart.add),
        ("/cart/update", cart.update), ("/cart/remove", cart.remove), ("/cart/voucher", cart.voucher),
        ("/checkout", checkout.choose_delivery), ("/checkout/payment", checkout.place),
        ("/orders/{number}/cancel", order.cancel), ("/orders/{number}/return", order.ask_return),
        ("/sign-in", account.enter), ("/sign-out", account.sign_out), ("/account/profile", account.save_profile),
        ("/account/addresses/new", account.save_address), ("/account/addresses/{id:row}", account.save_address),
        ("/account/addresses/{id:row}/delete", account.drop_address), ("/wishes", account.change_wishes),
    ]  # fmt: skip
    routes = [Route(path, answer, methods=["GET"]) for path, answer in get]
    routes += [Route(path, answer, methods=["POST"]) for path, answer in post]
    return Starlette(routes=routes, exception_handlers={404: not_found})
