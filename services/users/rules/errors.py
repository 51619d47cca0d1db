"""What the users service refuses, each with the code that clients read."""

from shared.errors import Conflict, Forbidden, Gone, Invalid, NotFound, Unauthorized


class EmailTaken(Conflict):
    code, title = "email_taken", "An account with this e-mail exists already"


class BadLogin(Unauthorized):
    code, title = "bad_login", "E-mail or password is wrong, or the e-mail is not verified"


class BadRefreshToken(Unauthorized):
    code, title = "bad_refresh_token", "This session has ended"


class SessionExpired(BadRefreshToken):
    """Nobody ended it: it was not used for too long."""

    code = "session_expired"


class AccountErased(Gone):
    code, title = "account_erased", "This account was erased"


class WrongPassword(Forbidden):
    code, title = "wrong_password", "The current password is wrong"


class PasswordRequired(Forbidden):
    code, title = "password_required", "This needs your password again"


class NoSuchUser(NotFound):
    code, title = "no_such_user", "No such account"


class NoSuchAddress(NotFound):
    code, title = "no_such_address", "No such address"


class NoSuchPaymentMethod(NotFound):
    code, title = "no_such_payment_method", "No such payment method"


class NoSuchProduct(NotFound):
    code, title = "no_such_product", "No such product"


class VariantNeeded(Invalid):
    code, title = "variant_needed", "Choose a variant"


class CardNumberRejected(Invalid):
    code, title = "card_number", "Card numbers are not kept here"


class LastAdmin(Conflict):
    code, title = "last_admin", "The shop must keep an admin"
