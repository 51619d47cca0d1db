"""`python -m services.orders.printing`: the document that comes as JSON on standard input goes out as PDF on standard output."""

import json
import sys
from base64 import b64decode

from services.orders.printing.typeset import typeset


def main() -> None:
    request = json.load(sys.stdin.buffer)
    logo = b64decode(request["logo"]) if request["logo"] else None
    sys.stdout.buffer.write(typeset(request["page"], logo))


main()
