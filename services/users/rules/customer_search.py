"""What a customer is found by at the desk: the words of the name and their beginnings, the e-mail and its beginnings, the userid.

`services/users/views/customers.js` makes the same texts of an account: without capitals, accents and punctuation.
"""

import re
import unicodedata
from typing import Final

MAX_WORDS: Final = 5
MAX_BEGINNING: Final = 40
_PUNCTUATION = re.compile(r"""[.,;:'"’`´()/_+&-]""")


def search_key(q: str) -> str:
    """The one key of the view that a query asks for; "" for none: everybody.

    One word is a name's or an e-mail's beginning, or a userid; several are whole words of a name, in any order.
    """
    words = {_PUNCTUATION.sub("", word) for word in _plain(q).split()}
    return " ".join(sorted(words - {""}))


def _plain(text: str) -> str:
    decomposed = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in decomposed if not "\u0300" <= letter <= "\u036f")
