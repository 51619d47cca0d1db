"""Which categories somebody keeps on their devices."""

import hashlib
from typing import Annotated, Final

from shared.couch import DocumentType, StoredDocument
from shared.fields import Boolean, Declaration, Moment, Text

CATEGORY_PATH: Final = r"[^#\s]([^#]*[^#\s])?(#[^#\s]([^#]*[^#\s])?)*"


class KeptCategory(StoredDocument):
    """A category whose products somebody's devices keep a copy of."""

    userid: str
    category: Annotated[
        str,
        Text(
            1,
            1000,
            pattern=CATEGORY_PATH,
            pattern_message="The levels of a category joined by `#`, none of them empty, no space around them.",
            normalize=False,
            description="its levels joined by `#`",
        ),
    ]
    subtree: Annotated[
        bool, Boolean(default=False, omit_default=False, description="with all categories below it")
    ]
    added: Annotated[str, Moment(writable=False)]
    updated: str


KEPT_CATEGORY = DocumentType.declared("kept", KeptCategory)
KEPT_CATEGORY_FIELDS: Final = Declaration(KeptCategory)
KEPT_PREFIX: Final = "kept-"


def kept_key(category: str) -> str:
    """What a kept category is known by: its name, made short enough for an id; a device finds the same without asking."""
    return hashlib.sha256(category.encode()).hexdigest()[:40]
