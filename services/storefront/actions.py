"""What a visitor sets in motion: logging in, keeping a session fresh, filling a basket, placing an order, importing."""

import base64
import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jwt
import orjson
from cryptography.fernet import Fernet
from redis import Redis

from services.storefront.clients import Products, Services, Users, attempt
from services.storefront.rules import taxonomy
from shared.errors import AisleError, Conflict, Invalid, Unauthorized, Unavailable
from shared.money import Money, add, times

log = logging.getLogger(__name__)

MENU_DEPTH = 6
WINDOW = {"sort": "rating", "limit": 100}
IN_WINDOW = 10
SOON = 3.0
LEEWAY = 30
MOST_OF_ONE = 99
GUEST_LINES = 30
ORDER_LINES = 100
LINES_AT_ONCE = 500


@dataclass(frozen=True)
class Session:
    """A logged-in browser: its tokens, when the access token ends (epoch seconds), and what pages greet it with."""

    access: str
    refresh: str
    expires: int
    name: str = ""
    userid: str = ""
    roles: tuple[str, ...] = ()

    @property
    def staff(self) -> bool:
        return "admin" in self.roles or "staff" in self.roles

    def renewed(self, tokens: dict) -> "Session":
        return session_from(tokens, self.name)


def session_from(tokens: dict, name: str) -> Session:
    """A session of the users service's token answer; its claims were signed for us over a trusted connection."""
    claims = jwt.decode(tokens["access_token"], options={"verify_signature": False})
    expires = int(time.time()) + int(tokens["expires_in"])
    roles = tuple(claims.get("roles", ()))
    return Session(tokens["access_token"], tokens["refresh_token"], expires, name, str(claims["sub"]), roles)


def log_in(
    services: Services, email: str, password: str, address: str, basket: Mapping[str, int]
) -> tuple[Session, int, str]:
    """A session, how many things its basket holds once the guest's is merged in, and why that could not be ("" when it
    was). Raises Unauthorized."""
    users, problem = services.users, ""
    session = session_from(users.log_in(email, password, address), "")
    if basket:
        try:
            users.merge_basket(session.access, basket)
        except (Conflict, Invalid) as error:
            problem = error.detail
    me = users.me(session.access)
    return replace(session, name=me["name"]), pieces(me["basket"]), problem


def pieces(lines: Iterable[Mapping]) -> int:
    return sum(line["quantity"] for line in lines)


class Refresher:
    """Renews access tokens, once per refresh token however many requests of a browser ask at the same time.

    A refresh token works once; its reuse would end the session everywhere. So the first request to ask takes a lock
    in Redis, and the others wait for what it got, which is kept for a minute, encrypted with the old token.
    """

    def __init__(self, users: Users, redis: Redis, *, patience: float = 3.0) -> None:
        self._users, self._redis, self._patience = users, redis, patience

    def fresh(self, session: Session) -> Session:
        """`session` while its access token lasts, else a renewed one. Raises Unauthorized when it is over."""
        if session.expires - LEEWAY > time.time():
            return session
        name = hashlib.sha256(session.refresh.encode()).hexdigest()
        box = Fernet(
            base64.urlsafe_b64encode(hashlib.sha256(b"storefront" + session.refresh.encode()).digest())
        )
        ends = time.monotonic() + self._patience
        while time.monotonic() < ends:
            if kept := self._redis.get(f"storefront:renewed:{name}"):
                return self._opened(session, box, kept)
            if self._redis.set(f"storefront:renewing:{name}", "1", nx=True, px=int(self._patience * 1000)):
                return self._renew(session, name, box)
            time.sleep(0.05)
        raise Unavailable("Your session could not be renewed just now; try again.")

    def _renew(self, session: Session, name: str, box: Fernet) -> Session:
        try:
            tokens = self._users.refresh(session.refresh)
        except Unauthorized:
            tokens = None
        except AisleError:
            self._redis.delete(f"storefront:renewing:{name}")
            raise
        kept = box.encrypt(orjson.dumps(tokens))
        self._redis.set(f"storefront:renewed:{name}", kept, ex=60)
        return self._opened(session, box, kept)

    @staticmethod
    def _opened(session: Session, box: Fernet, kept: bytes) -> Session:
        tokens = orjson.loads(box.decrypt(kept))
        if tokens is None:
            raise Unauthorized("Your session has ended; log in again.")
        return session.renewed(tokens)


class Kept:
    """An answer that many pages show: asked for again every `seconds`, by one request while the others get the last one.

    While its service is away the last answer stays, and is asked for again soon, like an empty one (a shop that is just
    being filled). Raises only when there never was an answer.
    """

    def __init__(self, ask: Callable[[], Any], seconds: float) -> None:
        self._ask, self._seconds = ask, seconds
        self._answer, self._error, self._until, self._asking = None, None, 0.0, threading.Lock()

    def get(self) -> Any:
        first = self._answer is None and self._error is None
        if time.monotonic() >= self._until and self._asking.acquire(blocking=first):
            try:
                if time.monotonic() >= self._until:
                    self._renew()
            finally:
                self._asking.release()
        if self._answer is None:
            raise Unavailable("The shop cannot show its shelves just now.", retry_after=3) from self._error
        return self._answer

    def forget(self) -> None:
        """Ask again at the next page."""
        self._until = 0.0

    def _renew(self) -> None:
        try:
            self._answer, self._error = self._ask(), None
        except AisleError as error:
            log.warning("showing the last answer known: %s", error)
            self._error = error
        good = self._answer and self._error is None
        self._until = time.monotonic() + (self._seconds if good else SOON)


class Shelves:
    """What every visitor sees alike: the category menu, and the goods in the window."""

    def __init__(self, products: Products, seconds: float) -> None:
        self._menu = Kept(lambda: taxonomy.menu(products.categories(MENU_DEPTH)["children"]), seconds)
        self._window = Kept(
            lambda: taxonomy.one_of_each(products.search(WINDOW)["items"], IN_WINDOW), seconds
        )

    def menu(self) -> taxonomy.Menu:
        """The departments; none while products has never answered, since every page shows them."""
        try:
            return self._menu.get()
        except AisleError:
            return taxonomy.Menu()

    def window(self) -> list[dict]:
        """The best of each department. Raises Unavailable."""
        return self._window.get()

    def forget(self) -> None:
        self._menu.forget()
        self._window.forget()


@dataclass(frozen=True)
class Line:
    """One basket line with today's price; `product` is None when the shop has it no more."""

    productid: str
    quantity: int
    product: dict | None

    @property
    def sum(self) -> Money | None:
        return times(self.product["price"], self.quantity) if self.product else None

    @property
    def short(self) -> bool:
        """More than there is."""
        return self.product is not None and self.product.get("stock", 0) < self.quantity


@dataclass(frozen=True)
class Basket:
    """What lies in it; a customer may keep more there than one order holds."""

    lines: list[Line]

    @property
    def surplus(self) -> int:
        """How many different things must go before it can be ordered."""
        return max(0, len(self.lines) - ORDER_LINES)

    @property
    def buyable(self) -> bool:
        return (
            0 < len(self.lines) <= ORDER_LINES
            and all(line.product and not line.short for line in self.lines)
            and len(self.currencies) == 1
        )

    @property
    def currencies(self) -> set[str]:
        return {line.product["price"]["currency"] for line in self.lines if line.product}

    @property
    def goods(self) -> Money | None:
        sums = [line.sum for line in self.lines if line.product]
        return add(*sums) if len(self.currencies) == 1 else None

    @property
    def count(self) -> int:
        return pieces({"quantity": line.quantity} for line in self.lines)


def priced(products: Products, wanted: Mapping[str, int]) -> Basket:
    """A basket with today's prices, in one look-up."""
    if not wanted:
        return Basket([])
    found = {product["productid"]: product for product in products.lookup(list(wanted))["found"]}
    return Basket([Line(productid, quantity, found.get(productid)) for productid, quantity in wanted.items()])


def wanted_of(me: dict) -> dict[str, int]:
    return {line["productid"]: line["quantity"] for line in me["basket"]}


def with_guest_line(basket: Mapping[str, int], productid: str, quantity: int) -> dict[str, int]:
    """A guest's basket with one line set (0 takes it out). Raises Conflict when the cookie would grow too large."""
    changed = {**basket, productid: min(quantity, MOST_OF_ONE)}
    if quantity <= 0:
        changed.pop(productid)
    if len(changed) > GUEST_LINES:
        raise Conflict(f"A basket holds {GUEST_LINES} different things until you log in.")
    return changed


def take_out(services: Services, token: str, productids: Iterable[str]) -> None:
    """Empties the basket of what was just ordered. What fails here the worker does a little later."""
    users = services.users
    services.together(
        **{each: attempt(partial(users.take_from_basket, token, each), None) for each in productids}
    )


def import_products(products: Products, token: str, lines: Iterable[bytes], first_line: int = 1) -> dict:
    """Sends an NDJSON stream in pieces and adds up the answers; line numbers are those of the whole stream."""
    total: dict = {"created": 0, "updated": 0, "unchanged": 0, "failed": []}
    sent = first_line - 1
    for group in _groups(lines, LINES_AT_ONCE):
        answer = products.import_lines(token, b"".join(group))
        for name in ("created", "updated", "unchanged"):
            total[name] += answer.get(name, 0)
        total["failed"] += [{**each, "line": each["line"] + sent} for each in answer.get("failed", ())]
        sent += len(group)
    total["lines"] = sent - first_line + 1
    return total


def _groups(lines: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    for line in lines:
        group.append(line)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group
