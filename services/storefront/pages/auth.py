"""Coming in: register, verify the e-mail, log in and out, set a new password."""

import secrets

from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from redis.exceptions import RedisError
from werkzeug import Response as BaseResponse

from services.storefront import forms
from services.storefront.actions import sessions
from services.storefront.pages.context import services
from services.storefront.pages.saved_forms import restore, restored
from services.storefront.pages.visitor import (
    device_token,
    enter,
    guest_basket,
    leave,
    logged_in,
    own_path,
    remember_device,
    token,
)
from services.storefront.rules.service_texts import service_text
from services.storefront.translation import gettext as _
from shared.errors import AisleError, BadRequest, Conflict, Forbidden, Invalid, TooManyRequests, Unauthorized

auth = Blueprint("auth", __name__)


def address() -> str:
    """The visitor's own network address, for the limits of the users service."""
    return request.remote_addr or ""


@auth.get("/register")
def register() -> str:
    return render_template(
        "register.html", form=restore(forms.Form(forms.REGISTER), url_for("auth.register"))
    )


@auth.post("/register")
def register_now() -> str | BaseResponse:
    form = forms.Form(forms.REGISTER).read(request.form)
    if form.is_valid:
        try:
            registration = secrets.token_urlsafe(16)
            services().users.register(form.values, registration, address())
            session["email"], session["registration"] = form.values["email"], registration
            return redirect(url_for("auth.registered"))
        except Invalid as error:
            form.add_errors(error)
        except TooManyRequests as error:
            form.general = forms.error_text(error)
    return render_template("register.html", form=form)


@auth.get("/registered")
def registered() -> str | BaseResponse:
    """Says that an e-mail was sent only to who has just registered in this browser; others ask for one here."""
    if logged_in() is not None:
        return redirect(url_for("account.show"))
    typed = restored(url_for("auth.resend")).get("email", "")
    return render_template(
        "registered.html", email=typed or session.get("email", ""), sent="email" in session
    )


@auth.get("/verify/resend")
def back_to_registered() -> BaseResponse:
    """Where an e-mail is asked for, opened as a page."""
    return redirect(url_for("auth.registered", form=request.args.get("form")))


@auth.post("/verify/resend")
def resend() -> BaseResponse:
    try:
        services().users.resend(request.form.get("email", ""), session.get("registration", ""), address())
        flash(_("If that address waits to be confirmed, a new e-mail is on its way."), "good")
    except (Invalid, TooManyRequests) as error:
        flash(forms.error_text(error), "bad")
    return redirect(url_for("auth.registered"))


@auth.get("/verify")
def verify() -> str:
    """A page with a button: mail programs that open links ahead must not use the token up."""
    return _verify_page(request.args.get("token", ""), is_registrant="registration" in session)


@auth.post("/verify")
def verify_now() -> str | BaseResponse:
    """Confirms with what the browser that registered keeps, with that registration's password, or with a new one.

    Who opens the link owns the address, and need not be who chose the password: see `users.actions.verification`.
    """
    sent, proof = request.form.get("token", ""), _proof()
    own = forms.Form(forms.CONFIRM_NEW)
    if "new_password" in proof and not own.read(request.form).is_valid:
        return _verify_page(sent, own=own)
    try:
        services().users.verify(sent, proof)
    except Forbidden as error:
        form = forms.Form(forms.CONFIRM)
        if "password" in proof:
            form.errors["password"] = [forms.error_text(error)]
        else:
            form.general = forms.error_text(error)
        return _verify_page(sent, form=form)
    except TooManyRequests as error:
        return _verify_page(sent, form=forms.Form(forms.CONFIRM, general=forms.error_text(error)))
    except Invalid as error:
        if "new_password" not in proof:
            return _verify_page("", problem=forms.error_text(error))
        own.add_errors(error)
        return _verify_page(sent, own=own)
    except (BadRequest, Conflict) as error:
        return _verify_page("", problem=forms.error_text(error))
    session.pop("email", None)
    session.pop("registration", None)
    words = _("Your e-mail address is confirmed.")
    flash(words if logged_in() is not None else " ".join([words, _("You can log in now.")]), "good")
    return redirect(url_for("auth.login"))


def _proof() -> dict[str, str]:
    for name in ("new_password", "password"):
        if name in request.form:
            return {name: request.form[name]}
    known = session.get("registration", "")
    return {"registration": known} if known else {"password": ""}


def _verify_page(
    sent: str,
    *,
    form: forms.Form | None = None,
    own: forms.Form | None = None,
    is_registrant: bool = False,
    problem: str = "",
) -> str:
    return render_template(
        "verify.html",
        token=sent,
        form=form or forms.Form(forms.CONFIRM),
        own=own or forms.Form(forms.CONFIRM_NEW),
        is_registrant=is_registrant,
        problem=problem,
    )


@auth.get("/login")
def login() -> str | BaseResponse:
    target = own_path(request.args.get("next", ""), "")
    if logged_in() is not None:
        return redirect(target or url_for("account.show"))
    form = restore(forms.Form(forms.LOGIN), url_for("auth.login"))
    return render_template("login.html", form=form, next=target)


@auth.post("/login")
def login_now() -> str | BaseResponse:
    form = forms.Form(forms.LOGIN).read(request.form)
    target = own_path(request.form.get("next", ""), "")
    if form.is_valid:
        try:
            done = sessions.log_in(
                services(),
                form.values["email"],
                form.values["password"],
                address(),
                guest_basket(),
                device_token(),
            )
            enter(done.session, done.count)
            remember_device(done.device_token)
            if done.problem:
                left_out = _("What you chose before you logged in was left out.")
                flash(f"{done.problem} {left_out}", "warn")
            return redirect(target or url_for("desk.sales" if done.session.staff else "shop.home"))
        except Invalid as error:
            form.add_errors(error)
        except Unauthorized as error:
            form.general = f"{service_text(error.title)}. {forms.error_text(error)}"
        except TooManyRequests as error:
            form.general = forms.error_text(error)
    return render_template("login.html", form=form, next=target)


@auth.post("/logout")
def logout() -> BaseResponse:
    everywhere = True
    try:
        if logged_in() is not None:
            services().users.log_out(token())
    except Unauthorized:
        pass  # the session was over already
    except (AisleError, RedisError):
        everywhere = False
    leave()
    if not everywhere:
        flash(
            _(
                "You are logged out of this browser. The session could not be ended elsewhere: it ends by itself."
            ),
            "warn",
        )
    return redirect(url_for("shop.home"))


@auth.get("/reset")
def ask_reset() -> str:
    return render_template(
        "reset.html", form=restore(forms.Form(forms.ASK_RESET), url_for("auth.ask_reset")), sent=False
    )


@auth.post("/reset")
def ask_reset_now() -> str:
    form = forms.Form(forms.ASK_RESET).read(request.form)
    if form.is_valid:
        try:
            services().users.ask_reset(form.values["email"], address())
        except Invalid as error:
            form.add_errors(error)
        except TooManyRequests as error:
            form.general = forms.error_text(error)
    return render_template("reset.html", form=form, sent=form.is_valid)


@auth.get("/reset/confirm")
def reset() -> str:
    """Where the e-mail's link leads."""
    return render_template(
        "new_password.html", form=forms.Form(forms.RESET), token=request.args.get("token", "")
    )


@auth.post("/reset/confirm")
def reset_now() -> str | BaseResponse:
    form = forms.Form(forms.RESET).read(request.form)
    if form.is_valid:
        try:
            services().users.reset(request.form.get("token", ""), form.values["password"])
            flash(_("Your new password is set. Log in with it."), "good")
            return redirect(url_for("auth.login"))
        except Invalid as error:
            form.add_errors(error)
        except BadRequest as error:
            form.general = forms.error_text(error)
    return render_template("new_password.html", form=form, token=request.form.get("token", ""))
