"""Search at the desk: what customers did not find, and the synonyms, redirects and pinned products that help them."""

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from flask import current_app, flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect

from services.storefront import forms
from services.storefront.actions.catalogue_cache import MENU_DEPTH
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.language import shown_menu
from services.storefront.pages.saved_forms import restore, restored
from services.storefront.pages.visitor import token
from services.storefront.rules import taxonomy, wording
from services.storefront.rules.messages import message
from services.storefront.rules.search_rules import rules_of_lines
from services.storefront.translation import gettext as _
from services.storefront.translation import gettext_noop
from shared.errors import Conflict, Forbidden, Invalid, NotFound, PreconditionFailed
from shared.types import Json

FOUND = {
    "nothing": gettext_noop("Found nothing"),
    "little": gettext_noop("Found little"),
    "any": gettext_noop("All"),
}


@dataclass(frozen=True)
class RuleKind:
    """One kind of rules: its fields in a form, a rule as the form shows it, and the form as the API takes it."""

    title: str
    existing: str
    explanation: str
    fields: tuple[forms.Field, ...]
    values: Callable[[Json], dict[str, str]]
    body: Callable[[dict[str, str]], Json]
    has_lines: bool = False


KINDS = {
    "synonyms": RuleKind(
        gettext_noop("Synonyms"),
        gettext_noop("Synonyms there are"),
        gettext_noop("Who searches for one finds what has the others."),
        forms.SYNONYM,
        lambda rule: {"synonyms": ", ".join(rule["synonyms"]), "one_way": "yes" if rule["one_way"] else ""},
        lambda values: {"synonyms": forms.split_list(values["synonyms"]), "one_way": bool(values["one_way"])},
        has_lines=True,
    ),
    "redirects": RuleKind(
        gettext_noop("Redirects"),
        gettext_noop("Redirects there are"),
        gettext_noop("Who searches for this is led to a department or another page of the shop."),
        forms.REDIRECT,
        lambda rule: {"category": rule["category"], "address": rule["address"]},
        lambda values: {"category": values["category"], "address": values["address"]},
    ),
    "pins": RuleKind(
        gettext_noop("Pinned products"),
        gettext_noop("Pinned products there are"),
        gettext_noop("Who searches for this sees these products first, in this order."),
        forms.PIN,
        lambda rule: {"productids": ", ".join(rule["productids"])},
        lambda values: {"productids": forms.split_list(values["productids"])},
    ),
    "hidden": RuleKind(
        gettext_noop("Hidden queries"),
        gettext_noop("Hidden queries there are"),
        gettext_noop("What others searched for and nobody is to be shown while typing."),
        forms.HIDDEN_QUERY,
        lambda rule: {"reason": rule["reason"]},
        lambda values: {"reason": values["reason"]},
    ),
}


@desk.get("/search")
def search() -> str:
    found = request.args.get("found", "nothing")
    found = found if found in FOUND else "nothing"
    listed = services().products.counted_queries(token(), found, request.args.get("cursor", ""))
    return render_template(
        "desk/search.html",
        queries=listed["items"],
        next=listed["next"],
        found=found,
        choices=FOUND,
        kinds=KINDS,
    )


@desk.get("/search/history")
def search_history() -> str:
    """Who changed which rule, the last change first."""
    listed = services().products.search_history(token(), request.args.get("cursor", ""))
    return render_template(
        "desk/search_history.html",
        changes=listed["items"],
        next=listed["next"],
        kinds=KINDS,
        kind="history",
        change_label=wording.search_change_label,
    )


@desk.get("/search/<kind>")
def search_rules(kind: str) -> str:
    """The rules of a kind, and the form for one: that of the query asked for, or a new one."""
    chosen, query = _kind(kind), request.args.get("query", "")[:200]
    values, etag = {"query": query}, ""
    if query:
        try:
            rule, etag = services().products.search_rule(token(), kind, query)
            values = {"query": rule["query"], **chosen.values(rule)}
        except NotFound:
            pass  # there is none yet: the form makes it
    action = url_for("desk.save_search_rule", kind=kind)
    form = restore(forms.Form(chosen.fields, values), action)
    return _page(kind, form, restored(action).get("etag", etag))


@desk.post("/search/<kind>")
def save_search_rule(kind: str) -> str | BaseResponse:
    chosen, form = _kind(kind), forms.Form(_kind(kind).fields).read(request.form)
    etag = request.form.get("etag", "")
    if form.is_valid:
        try:
            body = chosen.body(form.values)
            if (address := body.get("address")) and not _leads_somewhere(address):
                raise Invalid(errors={"address": [_("There is no such page in this shop.")]})
            rule = services().products.write_search_rule(token(), kind, form.values["query"], body, etag)
            flash(_("Saved for “%(query)s”. Searches follow within a second.", query=rule["query"]), "good")
            return redirect(url_for("desk.search_rules", kind=kind))
        except Invalid as error:
            form.add_errors(error)
        except PreconditionFailed as error:
            form.general = (
                message(error)
                if etag
                else _("There is one for this query already: open it from the list below.")
            )
        except (Conflict, Forbidden) as error:
            form.general = message(error)
    return _page(kind, form, etag)


@desk.get("/search/<kind>/lines")
@desk.get("/search/<kind>/delete")
def back_to_search_rules(kind: str) -> BaseResponse:
    """The addresses that forms go to, opened as pages."""
    return redirect(url_for("desk.search_rules", kind=kind, form=request.args.get("form")))


@desk.post("/search/<kind>/delete")
def remove_search_rule(kind: str) -> BaseResponse:
    _kind(kind)
    query = request.form.get("query", "")
    try:
        services().products.remove_search_rule(token(), kind, query)
        flash(_("Removed for “%(query)s”.", query=query), "good")
    except (Conflict, Forbidden, NotFound) as error:
        flash(message(error), "bad")
    return redirect(url_for("desk.search_rules", kind=kind))


@desk.post("/search/<kind>/lines")
def save_lines(kind: str) -> str | BaseResponse:
    """Several synonyms at once; what was saved before a line that is wrong stays."""
    if not _kind(kind).has_lines:
        raise NotFound(_("There is no such page."))
    lines = forms.Form(forms.SYNONYM_LINES).read(request.form)
    if lines.is_valid:
        try:
            rules = rules_of_lines(lines.values["lines"])
            for number, query, body in rules:
                _save_line(kind, number, query, body)
            flash(_("%(count)s saved. Searches follow within a second.", count=len(rules)), "good")
            return redirect(url_for("desk.search_rules", kind=kind))
        except Invalid as error:
            lines.add_errors(error)
        except (Conflict, Forbidden) as error:
            lines.general = message(error)
    return _page(kind, forms.Form(forms.SYNONYM), "", lines)


def _leads_somewhere(address: str) -> bool:
    """Whether a path of the shop is a page that visitors can open: of a product or a category only if there is one. Another site's address
    is for the service to refuse."""
    path = unquote(urlsplit(address).path)
    if not address.startswith("/") or address.startswith(("//", "/\\")):
        return True
    try:
        endpoint, values = current_app.url_map.bind("").match(path, "GET")
    except RequestRedirect:
        return True
    except HTTPException:
        return False
    if endpoint == "shop.product":
        return _is_shown(values["productid"])
    if endpoint == "shop.category":
        menu, names = shown_menu(), taxonomy.from_url(values["names"])
        deep = names.count(taxonomy.SEPARATOR) >= MENU_DEPTH
        return deep or menu.find(names) is not None or menu.moved_to(names) is not None
    return True


def _is_shown(productid: str) -> bool:
    try:
        services().products.product(productid)
    except NotFound:
        return False
    return True


def _save_line(kind: str, number: int, query: str, body: Json) -> None:
    try:
        services().products.write_search_rule(token(), kind, query, body, "*")
    except Invalid as error:
        raise Invalid(
            errors={"lines": [_("Line %(number)s: %(problem)s", number=number, problem=message(error))]}
        ) from error


def _page(kind: str, form: forms.Form, etag: str, lines: forms.Form | None = None) -> str:
    listed = services().products.search_rules(token(), kind, request.args.get("cursor", ""))
    if lines is None:
        lines = restore(forms.Form(forms.SYNONYM_LINES), url_for("desk.save_lines", kind="synonyms"))
    return render_template(
        "desk/search_rules.html",
        kind=kind,
        chosen=KINDS[kind],
        kinds=KINDS,
        form=form,
        etag=etag,
        lines=lines,
        rules=[(rule, KINDS[kind].values(rule)) for rule in listed["items"]],
        next=listed["next"],
    )


def _kind(name: str) -> RuleKind:
    """Raises NotFound."""
    if name not in KINDS:
        raise NotFound(_("There is no such page."))
    return KINDS[name]
