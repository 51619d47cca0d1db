"""Categories at the desk: labels, order, pictures, texts, and where they have moved to."""

from collections.abc import Iterable, Iterator

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.pages.context import dependencies, services
from services.storefront.pages.desk import desk
from services.storefront.pages.desk.pictures import take_picture
from services.storefront.pages.saved_forms import restore, restored
from services.storefront.pages.visitor import token
from services.storefront.rules import translations
from services.storefront.rules.messages import message
from services.storefront.rules.taxonomy import Category
from services.storefront.translation import gettext as _
from shared.errors import Conflict, Invalid, NotFound, PreconditionFailed
from shared.types import Json

TRANSLATED = ("label", "text")
TEXTS = ("path", "label", "text", "picture", "moved_to")


@desk.get("/categories")
def categories() -> str:
    """All categories, and the form of the one that `path` names."""
    path, action = request.args.get("path", ""), url_for("desk.save_category")
    found, etag = _described(path)
    form = restore(_form(_values(found)), action)
    return _page(form, restored(action).get("etag", etag))


@desk.post("/categories")
def save_category() -> str | BaseResponse:
    form, etag = _form({}).read(request.form), request.form.get("etag", "")
    form.values["picture"] = take_picture(form, "file") or form.values["picture"]
    if form.is_valid:
        try:
            before, _etag = _described(form.values["path"])
            services().products.describe_category(token(), _body(form.values, before), etag)
            return _done(_("Saved."), form.values["path"])
        except Invalid as error:
            form.add_errors(error)
        except (Conflict, PreconditionFailed) as error:
            form.general = message(error)
    return _page(form, etag)


@desk.post("/categories/forget")
def forget_category() -> BaseResponse:
    """The category is shown by its name again."""
    path = request.form.get("path", "")
    services().products.forget_category(token(), path)
    return _done(_("It is shown by its name again."), path)


@desk.get("/categories/forget")
def back_to_categories() -> BaseResponse:
    """Where the button leads, opened as a page."""
    return redirect(url_for("desk.categories", form=request.args.get("form")))


def _done(words: str, path: str) -> BaseResponse:
    dependencies().catalogue.invalidate()
    flash(words, "good")
    return redirect(url_for("desk.categories", path=path))


def _described(path: str) -> tuple[Json, str]:
    """What is said of a category, and its ETag; only its path where nothing is said yet."""
    if not path:
        return {}, ""
    try:
        return services().products.described_category(token(), path)
    except NotFound:
        return {"path": path}, ""


def _form(values: dict[str, str]) -> forms.Form:
    return forms.Form((*forms.CATEGORY, *forms.translated_category(_languages())), values)


def _languages() -> tuple[str, ...]:
    """Those of the shop besides its own."""
    return dependencies().settings.languages[1:]


def _values(found: Json) -> dict[str, str]:
    position = found.get("position")
    values = {name: found.get(name, "") for name in TEXTS}
    said = translations.values_of(found.get("translations") or {}, TRANSLATED, _languages())
    return values | said | {"position": "" if position is None else str(position)}


def _body(values: dict[str, str], before: Json) -> Json:
    """Raises Invalid by field."""
    typed = {name: values[name] for name in TEXTS}
    for name in ("path", "moved_to"):
        typed[name] = "#".join(level.strip() for level in typed[name].split("#"))
    position = forms.parse_integer(values["position"], "position") if values["position"] else None
    said = translations.body_of(values, before.get("translations") or {}, TRANSLATED, _languages())
    return {**typed, "position": position, **({"translations": said} if _languages() else {})}


def _rows(level: Iterable[Category], depth: int = 0) -> Iterator[tuple[int, Category]]:
    for each in level:
        yield depth, each
        yield from _rows(each.children, depth + 1)


def _page(form: forms.Form, etag: str) -> str:
    menu = dependencies().catalogue.menu()
    described = {each["path"]: each for each in services().products.described_categories(token())}
    rows = list(_rows(menu.departments))
    there = {each.path for _, each in rows}
    return render_template(
        "desk/categories.html",
        form=form,
        languages_of_goods=_languages(),
        etag=etag,
        rows=rows,
        described=described,
        others=[each for path, each in described.items() if path not in there],
    )
