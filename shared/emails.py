"""The one spelling of an e-mail address."""

import re
import unicodedata

from shared.errors import Invalid

_LOCAL = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
_DOMAIN = re.compile(r"([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}")


def normalised_email(text: str) -> str:
    """The one spelling of an e-mail that is stored and compared. Raises Invalid for what is not an e-mail."""
    local, _, domain = unicodedata.normalize("NFC", text.strip()).rpartition("@")
    try:
        domain = domain.lower().encode("idna").decode() if not domain.isascii() else domain.lower()
    except UnicodeError:
        domain = ""
    if len(local) > 64 or len(domain) > 253 or not _LOCAL.fullmatch(local) or not _DOMAIN.fullmatch(domain):
        raise Invalid("This is not an e-mail address.", errors={"email": ["Write it like name@example.com."]})
    return f"{local.lower()}@{domain}"
