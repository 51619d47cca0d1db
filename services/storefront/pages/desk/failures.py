"""What went wrong and waits for a person: jobs that were given up, checkout attempts that are still open."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront.clients import attempt
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.rules.messages import message
from services.storefront.rules.wording import job_label
from services.storefront.translation import gettext as _
from shared.errors import Conflict, NotFound


@desk.get("/failures")
def failures() -> str:
    access, orders = token(), services().orders
    found = services().together(
        dead_letters=lambda: orders.dead_letters(access),
        attempts=attempt(lambda: orders.attempts(access), None),
        authorizations=attempt(lambda: orders.authorizations(access), None),
    )
    dead_letters = found["dead_letters"]
    return render_template(
        "desk/failures.html",
        dead_letters=dead_letters["items"],
        more=dead_letters["next"],
        attempts=found["attempts"],
        authorizations=(found["authorizations"] or {"items": []})["items"],
        job_label=job_label,
    )


@desk.get("/trouble")
def former_failures() -> BaseResponse:
    """The page's address until 0.1."""
    return redirect(url_for("desk.failures"), 301)


@desk.get("/failures/<dead_letter>/retry")
def back_to_failures(dead_letter: str) -> BaseResponse:
    """The address that a form goes to, opened as a page."""
    return redirect(url_for("desk.failures", form=request.args.get("form")))


@desk.post("/failures/<dead_letter>/retry")
def retry(dead_letter: str) -> BaseResponse:
    try:
        services().orders.retry(token(), dead_letter)
        flash(_("Sent again."), "good")
    except (Conflict, NotFound) as error:
        flash(message(error), "bad")
    return redirect(url_for("desk.failures"))
