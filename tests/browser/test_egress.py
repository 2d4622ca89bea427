"""Whatever a page tries, nothing leaves the browser but through the gateway of its window."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import pytest

TRIES = """
const at = ['127.0.0.1', 'localhost', '[::1]', 'a.test.localhost', '2130706433', '0.0.0.0'];
const quiet = (work) => { try { const done = work(); if (done && done.catch) done.catch(() => {}); } catch {} };
const add = (tag, given) => document.body.append(Object.assign(document.createElement(tag), given));
const click = (given) => Object.assign(document.createElement('a'), given).click();
const rels = ['prefetch', 'preconnect', 'dns-prefetch', 'prerender', 'preload', 'modulepreload', 'manifest', 'icon'];
add('iframe', { name: 'sink' });
for (const host of at) for (const scheme of ['http', 'https']) {
  const to = (what) => `${scheme}://${host}:${PORT}/${what}`;
  quiet(() => fetch(to('fetch'), { mode: 'no-cors' }));
  quiet(() => fetch(to('keepalive'), { mode: 'no-cors', keepalive: true }));
  quiet(() => navigator.sendBeacon(to('beacon'), 'x'));
  quiet(() => { const x = new XMLHttpRequest(); x.open('GET', to('xhr')); x.send(); });
  quiet(() => new EventSource(to('events')));
  quiet(() => new WebSocket(`${scheme === 'http' ? 'ws' : 'wss'}://${host}:${PORT}/socket`));
  quiet(() => new WebTransport(`https://${host}:${PORT}/transport`).ready);
  quiet(() => { new Image().src = to('image'); });
  quiet(() => add('iframe', { src: to('frame') }));
  quiet(() => add('script', { src: to('script') }));
  quiet(() => add('video', { src: to('video'), preload: 'auto' }));
  quiet(() => add('object', { data: to('object') }));
  quiet(() => add('style', { textContent: `@import url(${to('css')});` }));
  quiet(() => new FontFace('f', `url(${to('font')})`).load());
  for (const rel of rels) quiet(() => add('link', { rel, href: to(rel), as: 'image' }));
  quiet(() => click({ href: to('download'), download: 'x', target: 'sink' }));
  quiet(() => click({ href: '#x', ping: to('ping') }));
  const work = `fetch('${to('worker')}', {mode: 'no-cors'}); importScripts('${to('import')}')`;
  quiet(() => new Worker(URL.createObjectURL(new Blob([work]))));
  quiet(() => window.open(to('popup')));
  const rules = document.createElement('script');
  rules.type = 'speculationrules';
  const speculate = (url) => [{ urls: [url], eagerness: 'immediate' }];
  rules.textContent = JSON.stringify({ prefetch: speculate(to('early')), prerender: speculate(to('rendered')) });
  document.head.append(rules);
}
const servers = [`stun:127.0.0.1:${UDP}`, `stun:localhost:${UDP}`, `turn:127.0.0.1:${UDP}?transport=udp`];
for (const urls of [...servers, `turn:127.0.0.1:${PORT}?transport=tcp`]) quiet(() => {
  const peer = new RTCPeerConnection({ iceServers: [{ urls, username: 'u', credential: 'c' }] });
  peer.createDataChannel('x');
  return peer.createOffer().then((offer) => peer.setLocalDescription(offer));
});
"""


@pytest.fixture
def spy() -> Iterator[tuple[int, int, list[str]]]:
    """A TCP and a UDP port of loopback, and who came."""
    came: list[str] = []
    listener = socket.create_server(("", 0), family=socket.AF_INET6, dualstack_ipv6=True)
    datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    datagrams.bind(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, peer = listener.accept()
            except OSError:
                return
            connection.settimeout(1)
            came.append(f"tcp from {peer}")
            connection.close()

    def receive() -> None:
        while data := datagrams.recvfrom(2048):
            if data[0] == b"end":
                return
            came.append(f"udp from {data[1]}")

    threads = [threading.Thread(target=accept), threading.Thread(target=receive)]
    for thread in threads:
        thread.start()
    tcp, udp = listener.getsockname()[1], datagrams.getsockname()[1]
    yield tcp, udp, came
    listener.shutdown(socket.SHUT_RDWR)
    datagrams.sendto(b"end", ("127.0.0.1", udp))
    for thread in threads:
        thread.join()
    listener.close()
    datagrams.close()


def test_nothing_gets_past_the_gateway(open_pages, eventually, spy) -> None:
    tcp, udp, came = spy
    script = f"const PORT = {tcp}, UDP = {udp}; {TRIES}"
    window = open_pages({"/": f"<body><script>{script}</script>", "/a": "A"})
    expected = {"fetch", "keepalive", "beacon", "xhr", "events", "image", "frame", "script", "video", "object", "css"}
    expected |= {"prefetch", "preload", "download", "ping", "worker", "import", "popup"}

    def unasked() -> set[str]:
        return expected - {one.url.rpartition("/")[2] for one in window.gateway.log if f"0.0.0.0:{tcp}" in one.url}

    eventually(unasked, set())
    time.sleep(0.3)
    assert came == []
    assert {one.status for one in window.gateway.log if f":{tcp}" in one.url} <= {403}


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:{}/", "http://localhost:{}/", "https://127.0.0.1:{}/", "http://[::1]:{}/"]
)
def test_no_address_leads_past_the_gateway(open_pages, spy, url: str) -> None:
    tcp, _, came = spy
    window = open_pages({"/": "Home"})
    try:
        note = window.navigate(url.format(tcp)).note
    except Exception as told:  # noqa: BLE001 - told either way
        note = str(told)
    assert came == []
    assert note
