"""What went wrong and waits for a person: jobs that were given up, checkout attempts that are still open."""

from flask import flash, redirect, render_template, request, url_for
from werkzeug import Response as BaseResponse

from services.storefront.clients import attempt
from services.storefront.pages.context import services
from services.storefront.pages.desk import desk
from services.storefront.pages.visitor import token
from services.storefront.rules.messages import message
from services.storefront.rules.wording import job_word
from shared.errors import Conflict, NotFound


@desk.get("/trouble")
def trouble() -> str:
    access, orders = token(), services().orders
    found = services().together(
        letters=lambda: orders.dead_letters(access),
        attempts=attempt(lambda: orders.attempts(access), None),
    )
    letters = found["letters"]
    return render_template(
        "desk/trouble.html",
        letters=letters["items"],
        more=letters["next"],
        attempts=found["attempts"],
        job_word=job_word,
    )


@desk.get("/trouble/<letter>/retry")
def back_to_trouble(letter: str) -> BaseResponse:
    """The address that a form goes to, opened as a page."""
    return redirect(url_for("desk.trouble", form=request.args.get("form")))


@desk.post("/trouble/<letter>/retry")
def retry(letter: str) -> BaseResponse:
    try:
        services().orders.retry(token(), letter)
        flash("Sent again.", "good")
    except (Conflict, NotFound) as error:
        flash(message(error), "bad")
    return redirect(url_for("desk.trouble"))
