"""Whatever is asked of a bundled site, it answers: a site that fails is our fault, and would void the episode."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from random import Random
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit

import msgspec
import pytest
from agent_envs.envs.web.sites.flights import FLIGHTS
from agent_envs.envs.web.sites.shop import SHOP
from agent_envs.envs.web.sites.shop._people import customers

from agent_envs.sites import Gateway, Site, World, begin, changes, untouched

REQUESTS = 500
ODD = (
    "", " ", "0", "-1", "1", "01", "99999999", "9" * 30, "-" + "9" * 30, "1e309", "NaN", "0x10", "1.5", "٣", "²",
    "null", "true", "[]", "{}", '{"a": [1]}', "'", '"', "' OR 1=1 --", "%", "_", "*", "<b>x</b>", "{{ 7 * 7 }}",
    "\0", "\x1b[31m", "\r\nSet-Cookie: session=x", "\u202e", "\ud800", "\uffff", "é" * 3000, "x" * 40_000, "😀",
    "../../etc/passwd", "//evil.test/", "\\\\evil.test", "javascript:alert(1)", "/", "?", "#", "a=b&c=d",
    "2026-03-20", "2026-02-30", "0000-00-00", "0001-01-01", "9999-12-31", "2026-W10-1", "20260320", "2026-03-20T10:00",
    "-2026-01-01", "12/99", "00/00", "13/26", "4242 4242 4242 4242", "a@b.test", "@", "+86 1", "economy", "12A",
)  # fmt: skip
GOOD = {
    "given_name": "Mei", "family_name": "Chen", "birth_date": "1990-05-01", "passport": "E12345678", "name": "Mei Chen",
    "email": "mei@mail.test", "phone": "+86 555 123 4567", "card_name": "Mei", "card_number": "4242 4242 4242 4242",
    "expiry": "08/28", "cvc": "123", "card_expiry": "11/29", "card_code": "123", "from": "Beijing", "to": "Shanghai",
    "depart": "2026-03-17", "street": "Main Street 1", "postcode": "12345", "city": "Ulm", "quantity": "1", "q": "tent",
}  # fmt: skip
"""What fills in a field well enough for the next page to be reached, where it is not changed."""
SEARCH = "trip=one-way&from=Beijing&to=Shanghai&depart=2026-03-17&travellers=1&cabin=economy"
METHODS = ("GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW")
KINDS = (
    "application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=utf-16", "application/json",
    "multipart/form-data; boundary=x", "multipart/form-data", "text/plain", "image/png", "", "a" * 300, ";;;",
)  # fmt: skip
JSON = (
    b'{"a": "\\ud800"}',
    b'{"a": 1e999, "b": %s}' % (b"9" * 5000),
    b'{"a": 99999999999999999999}',
    b"[" * 60_000,
    b"{",
)
Fields = list[tuple[str, str]]


@dataclass
class Target:
    """Something that a page offered: a link, or a form with what is in it."""

    path: str
    fields: Fields = field(default_factory=list)
    method: str = "GET"


class Offers(HTMLParser):
    """The links and forms of a page."""

    def __init__(self, url: str, html: str) -> None:
        super().__init__()
        self.url, self.found, self.form = url, [], None
        self.feed(html)

    found: list[Target]
    form: Target | None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in has:
            path, _, query = urljoin(self.url, has["href"]).partition("?")
            self.found.append(Target(path, parse_qsl(query, keep_blank_values=True)))
        elif tag == "form":
            self.form = Target(urljoin(self.url, has.get("action") or self.url), [], has.get("method", "get").upper())
            self.found.append(self.form)
        elif self.form is not None and has.get("name"):
            self.form.fields.append((has["name"], has.get("value") or GOOD.get(has["name"].partition("-")[0], "")))


class Fuzzer:
    """One visitor of a site who follows what pages offer, and changes most of it on the way."""

    def __init__(self, site: Site, world: World, seed: int) -> None:
        self.random = Random(seed)
        self.site, self.world, self.visit = site, world, begin(site, world)
        self.cookies = [f"session={token}" for token in self.visit.cookies.values()]
        self.targets = {"start": [Target("/"), Target("/search", parse_qsl(SEARCH))]}
        self.latest = self.targets["start"]
        self.names = ["next", "page", "q", "sort", "id", "said"]

    async def play(self, requests: int) -> Gateway:
        gateway = await Gateway().open()
        gateway.serve({self.site.host: self.visit})
        for number in range(requests):
            url, request = self.request(self.choose())
            status, body = await send(gateway.port, request)
            assert 100 < status < 500, (number, request[:600], gateway.faults)
            self.note(Offers(urlsplit(url).path or "/", body).found)
        await gateway.close()
        return gateway

    def choose(self) -> Target:
        """What a page has just offered; or what some page has, each kind of address as often as the others."""
        if self.latest and self.random.random() < 0.6:
            return self.random.choice(self.latest)
        return self.random.choice(self.targets[self.random.choice(sorted(self.targets))])

    def note(self, offers: list[Target]) -> None:
        # Whoever signs out sees little from then on.
        offers = [one for one in offers if "sign-out" not in one.path]
        self.latest = [one for one in offers if one.method == "POST"] or offers
        # What one page asks for, another one may read.
        self.names = sorted({*self.names, *(name for one in offers for name, _ in one.fields)})
        for one in offers:
            kind = f"{one.method} {'/'.join(one.path.split('/')[:2])}/{len(one.path.split('/'))}"
            self.targets[kind] = [*self.targets.get(kind, [])[-9:], one]

    def request(self, target: Target) -> tuple[str, bytes]:
        random = self.random
        fields, path = self.mutated(target.fields), target.path
        if random.random() < 0.1:
            parts = path.split("/")
            parts[random.randrange(len(parts))] = random.choice(ODD)[:2000]
            path = "/" + "/".join(quote(part, errors="surrogatepass") for part in parts).lstrip("/")
        method = target.method if random.random() < 0.9 else random.choice(METHODS)
        encoded = urlencode(fields, errors="surrogatepass")
        if random.random() < 0.05:
            encoded = random.choice(["%", "%ff%fe=%80", "&&==&", "=", "a" * 9000, "%u1234=1", "+", "a[]=1&a[b]=2"])
        in_query = method == "GET" or random.random() < 0.05
        url = f"http://{self.site.host}{path}{'?' + encoded[:50_000] if in_query and encoded else ''}"
        body = b"" if in_query else self.body(encoded)
        lines = [f"{method} {url} HTTP/1.1", f"Host: {self.site.host}", f"Content-Length: {len(body)}", *self.headers()]
        return url, "\r\n".join([*lines, "", ""]).encode() + body

    def mutated(self, fields: Fields) -> Fields:
        random, made = self.random, list(fields)
        for _ in range(random.choice([0, 0, 0, 1, 1, 3])):
            what = random.random()
            if not made or what < 0.15:
                name = random.choice(self.names) if random.random() < 0.8 else random.choice(ODD)
                made.append((name, random.choice(ODD)))
            elif what < 0.3:
                made.pop(random.randrange(len(made)))
            elif what < 0.4:
                made.append(random.choice(made))
            else:
                at = random.randrange(len(made))
                made[at] = made[at][0], random.choice(ODD)
        return made

    def body(self, encoded: str) -> bytes:
        what = self.random.random()
        if what < 0.9:
            return encoded.encode()
        return self.random.choice([*JSON, self.random.randbytes(300), encoded.encode("utf-16")])

    def headers(self) -> list[str]:
        random = self.random
        cookie = random.choice(
            [*self.cookies * 40, "session=", "session=x; session=y", "=;=", 'session="\\303"', "x" * 3000]
        )
        kind = KINDS[0] if random.random() < 0.9 else random.choice(KINDS)
        more = random.choice(
            [[], [], [], ["Range: bytes=5-1"], ["If-Modified-Since: never"], ["Accept: "], ["Referer: ://"]]
        )
        return [f"Cookie: {cookie}", f"Content-Type: {kind}", *more]


async def send(port: int, request: bytes) -> tuple[int, str]:
    """The status and the text of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request.replace(b"\r\nHost:", b"\r\nConnection: close\r\nHost:", 1))
    answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    if found := re.search(rb"(?i)\r\nlocation: (\S+)", head):
        body = b'<a href="%s">' % found[1]
    return int(head.split()[1]), body.decode("utf-8", "replace")


WORLDS = {
    "shop": (SHOP, World(seed=3, user=customers(3)[0][0])),
    "shop, a guest": (SHOP, World(seed=4)),
    "flights": (FLIGHTS, World(seed=3, now="2026-03-11T09:00:00", user="li-na")),
    "flights, a guest": (FLIGHTS, World(seed=4, now="2026-12-30T23:00:00")),
}


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(2, 10))])
@pytest.mark.parametrize("name", WORLDS)
def test_no_request_makes_a_site_fail_or_an_episode_void(name: str, seed: int) -> None:
    site, world = WORLDS[name]
    fuzzer = Fuzzer(site, world, seed=seed)
    gateway = asyncio.run(fuzzer.play(REQUESTS))
    assert gateway.faults == []
    state = {
        "changes": changes(untouched(site, world), fuzzer.visit.database, but=site.unjudged),
        "requests": [one.to_json() for one in gateway.log],
    }
    assert msgspec.json.decode(msgspec.json.encode(state)) == state
    assert len({one.status for one in gateway.log} & {200, 303, 404, 405}) == 4, "it has seen more than refusals"
