"""What the desk keeps of a customer beside the account: notes of staff, and which e-mails went out."""

from typing import Annotated, Final, NotRequired

from shared.couch import StoredDocument
from shared.fields import Declaration, Moment, Text
from shared.staff_notes import StaffNote

CUSTOMER: Final = "customer"
"""Who caused an e-mail that no member of staff sent."""


class CustomerNote(StaffNote):
    """A note on a customer. Erasing the customer removes it."""

    userid: str


class AccountEmail(StoredDocument):
    """An e-mail about an account went out, to the address it had. Neither the address nor a token of it is kept."""

    userid: str
    kind: Annotated[str, Text(1, 40, writable=False, description="such as verification or new-password")]
    date: Annotated[str, Moment(writable=False)]
    by: Annotated[str, Text(0, 100, writable=False, description="customer, or who sent it: user 42")]
    sku: NotRequired[
        Annotated[
            str,
            Text(
                0, 64, writable=False, default="", show_default=False, description="what a stock alert was of"
            ),
        ]
    ]
    expires: str


ACCOUNT_EMAIL_FIELDS: Final = Declaration(AccountEmail)
