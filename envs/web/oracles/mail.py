"""Mail boxes and social media: the same few icons beside many messages."""

from __future__ import annotations

import re

from agent_envs.envs.web.oracles.playing import Player, solves
from agent_envs.envs.web.oracles.reading import Item

_RECEIVERS = (
    r"(?:forward|send) that email to (\w+)",
    r"forward(?:ed)?(?: (?:that|the|his or her|her|this|it)?[\w' ]*?)? to ([A-Z]\w+)",
    r"(?:[Ss]end|sent)(?: [\w' ]*?)? to ([A-Z]\w+)",
    r"(?:send it on|sent|send) to ([A-Z]\w+)",
    r"(?:Send|Forward|Give|Forward to|Send to) ([A-Z]\w+) (?:the|that)",
    r"([A-Z]\w+) (?:wants|is waiting for|needs) the (?:e?mail|message)",
    r"to ([A-Z]\w+)\b",
)
_REPLIES = (r"repl|respond|answer|tell|write back", r"wants his or her")


@solves(
    "email-inbox", "email-inbox-delete", "email-inbox-forward", "email-inbox-important", "email-inbox-noscroll",
    "email-inbox-reply", "email-inbox-star-reply", "email-inbox-nl-turk", "email-inbox-forward-nl",
    "email-inbox-forward-nl-turk",
)  # fmt: skip
def handle_a_mail(player: Player) -> None:
    """Whose mail, and what to do with it, in many words."""
    asked = player.asked
    said = re.search(r'"([^"]*)"', asked)
    plain = re.sub(r'"[^"]*"', "", asked)
    receiver = "" if said else _receiver(plain)
    mail = _mail_of(player, plain, but=receiver)
    if said:
        _reply(player, mail, said[1])
    elif re.search(r"delete|trash|remove|get rid|don't want|erase|bin", plain, re.I):
        player.click(_icon(player, mail, "trash"))
    elif re.search(r"star|important|favou?rite|significant|mark|priority", plain, re.I):
        player.click(_icon(player, mail, "star"))
    else:
        _forward(player, mail, receiver)


def _receiver(asked: str) -> str:
    return next((found[1] for pattern in _RECEIVERS if (found := re.search(pattern, asked))), "")


def _mail_of(player: Player, asked: str, *, but: str) -> Item:
    """The first mail of somebody who is named, and is not who it goes to."""
    asked = re.sub(rf"\b{but}\b", "", asked, count=1) if but else asked
    for mail in player.page.all("clickable"):
        senders = [one.name for one in player.page.inside(mail) if one.role == "text"]
        if senders and re.search(rf"\b{re.escape(senders[0])}\b", asked):
            return mail
    raise LookupError(f"nobody in the box is named in {asked!r}")


def _icon(player: Player, mail: Item, kind: str) -> Item:
    return next(one for one in player.page.inside(mail) if f'"{kind}' in one.said)


def _marked(player: Player, mark: str) -> Item:
    return next(one for one in player.page.all("clickable") if f'"{mark}' in one.said)


def _reply(player: Player, mail: Item, text: str) -> None:
    player.click(mail)
    player.click(player.page.one("clickable", "Reply"))
    player.type(player.page.one("textbox"), text)
    player.click(_marked(player, "send-reply"))


def _forward(player: Player, mail: Item, receiver: str) -> None:
    player.click(mail)
    player.click(player.page.one("clickable", "Forward"))
    player.type(player.page.one("textbox"), receiver)
    player.click(_marked(player, "send-forward"))


@solves("social-media")
def react(player: Player) -> None:
    """An icon beside a post of somebody, or an entry of the menu behind `more`."""
    found = re.search(r'For the user (@\w+), click on the "(.+)" button', player.asked)
    assert found
    post = _posts(player, found[1])[0]
    kind = found[2].lower()
    if kind in ("reply", "retweet", "like"):
        player.click(_of_post(player, post, kind))
    player.click(_of_post(player, post, "more"))
    player.click(next(one for one in player.page.all("clickable") if one.name.startswith(found[2])))


@solves("social-media-all", "social-media-some")
def react_to_many(player: Player) -> None:
    """An icon beside all or some posts of one person."""
    found = re.search(r'Click the "(.+)" button on (all|\d+) posts? by (@\w+)', player.asked)
    assert found
    posts = _posts(player, found[3])
    for post in posts if found[2] == "all" else posts[: int(found[2])]:
        player.click(_of_post(player, post, found[1].lower()))
    player.button("Submit")


def _posts(player: Player, user: str) -> list[int]:
    """Which of the posts are by somebody."""
    authors = [text for text in player.page.texts() if re.search(r" @\w+", text)]
    return [number for number, author in enumerate(authors) if re.search(rf"{user}\b", author)]


def _of_post(player: Player, number: int, kind: str) -> Item:
    return [one for one in player.page.all("clickable") if f'class "{kind}' in one.said][number]
