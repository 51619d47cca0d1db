"""Registering and confirming in the browser: what the owner of an address sees, and what somebody else gets of it."""

from collections.abc import Callable

from tests.people import PASSWORD
from tests.services.storefront.conftest import link_in_email, log_in
from tests.services.storefront.visitor import Page, Visitor

Join = Callable[..., Visitor]
ATTACKERS, OWNERS = "what the attacker chose", "what the owner chose"


def register(visitor: Visitor, email: str, password: str, name: str = "Somebody") -> Page:
    visitor.get("/register")
    return visitor.submit("/register", name=name, email=email, password=password)


def try_log_in(visitor: Visitor, email: str, password: str) -> Page:
    visitor.get("/login")
    return visitor.submit("/login", email=email, password=password)


def test_who_registered_here_confirms_with_one_click(visitor: Visitor) -> None:
    email = "one.click@example.com"
    assert register(visitor, email, OWNERS).path == "/registered"
    visitor.get(link_in_email(visitor, email))
    assert visitor.page.form("/verify").names == {"_csrf", "token"}
    assert visitor.submit("/verify").path == "/login"
    log_in(visitor, email, OWNERS)


def test_who_registered_elsewhere_confirms_with_the_password(visitor: Visitor) -> None:
    email = "on.the.phone@example.com"
    register(visitor, email, OWNERS)
    phone = Visitor(visitor.base)
    phone.get(link_in_email(phone, email))
    page = phone.submit("/verify", password="not it at all")
    assert "not the password" in page.text
    assert page.form("/verify").values["token"]
    assert phone.submit("/verify", password=OWNERS).path == "/login"
    log_in(phone, email, OWNERS)


def test_the_owner_of_an_address_that_somebody_else_registered_keeps_them_out(visitor: Visitor) -> None:
    email = "victim.of@example.com"
    attacker = Visitor(visitor.base)
    register(attacker, email, ATTACKERS)
    page = visitor.get(link_in_email(visitor, email))
    assert "Somebody made an account" in page.text
    assert "new_password" in {name for form in page.forms for name in form.names}
    assert visitor.submit("/verify").path == "/verify", "a click confirms nothing"
    assert try_log_in(attacker, email, ATTACKERS).path == "/login"
    visitor.get(link_in_email(visitor, email))
    form = next(form for form in visitor.page.forms if "new_password" in form.names)
    weak = visitor.send_form(form, {**form.values, "new_password": "password"})
    assert "Choose another" in weak.text
    form = next(form for form in visitor.page.forms if "new_password" in form.names)
    assert visitor.send_form(form, {**form.values, "new_password": OWNERS}).path == "/login"
    assert try_log_in(attacker, email, ATTACKERS).path == "/login"
    log_in(visitor, email, OWNERS)


def test_the_owner_registers_too_and_her_own_email_counts(visitor: Visitor) -> None:
    email = "twice.registered@example.com"
    attacker = Visitor(visitor.base)
    register(attacker, email, ATTACKERS)
    attackers_email = link_in_email(visitor, email)
    assert register(visitor, email, OWNERS).path == "/registered"
    page = visitor.get(attackers_email)
    page = visitor.submit("/verify")
    assert "another browser" in page.text
    visitor.get(link_in_email(visitor, email))
    assert visitor.submit("/verify").path == "/login"
    log_in(visitor, email, OWNERS)
    assert try_log_in(attacker, email, ATTACKERS).path == "/login"


def test_registering_says_nothing_of_whose_addresses_are_known(join: Join, visitor: Visitor) -> None:
    join("Known Already")
    pages = [
        register(Visitor(visitor.base), f"{name}@example.com", PASSWORD)
        for name in ("known.already", "never.seen")
    ]
    words = [
        page.text.replace("known.already", "somebody").replace("never.seen", "somebody") for page in pages
    ]
    assert pages[0].path == pages[1].path == "/registered"
    assert words[0] == words[1]
    assert "account already" in visitor.get("/mailbox?to=known.already@example.com").text


def test_a_common_password_is_refused_beside_its_field(visitor: Visitor) -> None:
    page = register(visitor, "easy.one@example.com", "password")
    assert page.path == "/register"
    assert "used, and tried, most" in page.text
    assert page.form("/register").values["email"] == "easy.one@example.com"


def test_guesses_elsewhere_do_not_lock_a_known_browser_out(join: Join) -> None:
    visitor = join("Known Browser")
    email = "known.browser@example.com"
    visitor.get("/account")
    visitor.submit("/logout")
    guesser = Visitor(visitor.base)
    pages = [try_log_in(guesser, email, f"guess number {number}").text for number in range(11)]
    assert "Too many tries" in pages[-1]
    assert "Too many tries" in try_log_in(Visitor(visitor.base), email, PASSWORD).text
    log_in(visitor, email, PASSWORD)
    cookie = visitor.cookie("aisle_device")
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert visitor.page.path != "/login"
