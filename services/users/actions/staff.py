"""Staff: who may do what, and the trail of what admins did."""

from services.users.actions.accounts import claim_email, new_user, update_user
from services.users.actions.tools import Tools
from services.users.documents import ADMIN_ROLE, CUSTOMER_ROLE
from services.users.rules import EmailTaken, normalised_email
from shared.clock import timestamp
from shared.couch import time_ordered_id


def make_admin(tools: Tools, email: str, password: str) -> str:
    """Makes a verified admin with this password, or makes an existing account admin; says which. May be repeated."""
    email = normalised_email(email)
    found = tools.store.account_by_email(email)
    if found is not None:
        if ADMIN_ROLE in found["roles"]:
            return "is admin already"
        update_user(
            tools,
            found["userid"],
            lambda user: {**user, "roles": [*user["roles"], ADMIN_ROLE], "roles_changed": timestamp()},
        )
        return "is admin now; its password stays as it was"
    userid = claim_email(tools, email, time_ordered_id())
    user = new_user(
        userid, "Admin", email, tools.passwords.hash(password),
        email_verified=True, roles=[CUSTOMER_ROLE, ADMIN_ROLE], roles_changed=timestamp(),
    )  # fmt: skip
    if not tools.store.put_if_first(user):
        raise EmailTaken("Somebody is registering this e-mail just now; run this again.")
    return "is admin"
