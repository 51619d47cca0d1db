"""Every sentence that a service can answer to a page has words in the catalogue: by its code, or by a row of `service_texts`."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from services.storefront.rules import audit, messages
from services.storefront.rules.service_texts import is_known
from shared.errors import AisleError

ROOT = Path(__file__).parents[3]
SENTENCE = re.compile(r"[A-Z0`].* .*[.?!]")
VARIABLE = "0"
"""What stands for a variable of an f-string."""

CODES = {*messages._SENTENCES, *messages._DETAILED}
TRANSLATED = {"_", "gettext", "ngettext"}
OTHERS = {"RuntimeError", "ValueError", "TypeError", "KeyError", "AssertionError", "SystemExit"}
SAID_ELSEWHERE = {"description", "help", "summary", "title"}

FOR_PROGRAMS = {
    "services/*/__main__.py": "the command line",
    "services/*/*/__main__.py": "the command line",
    "services/*/settings.py": "the environment",
    "services/*/dependencies.py": "the environment",
    "shared/database.py": "the environment",
    "services/*/documents.py": "what an index answers",
    "services/orders/shop_settings.py": "how settings are described in the API",
    "services/orders/promotion_settings.py": "how settings are described in the API",
    "services/orders/clients/*.py": "webhooks and providers",
    "services/orders/actions/*emails.py": "e-mails",
    "services/orders/actions/gift_cards.py": "e-mails, and amounts that are shown as the service wrote them",
    "services/users/actions/notifications.py": "e-mails",
    "services/orders/rules/importing.py": "imports of orders",
    "services/orders/actions/imports.py": "imports of orders",
    "services/orders/rules/periods.py": "spans of reports, which pages check themselves",
    "services/orders/actions/reports.py": "spans of reports, which pages check themselves",
    "services/orders/resources/webhooks.py": "webhooks",
    "services/orders/rules/invoices.py": "printed documents",
    "services/orders/rules/pricing/discounts.py": "why a code does not hold, which pages know by its reason",
    "services/orders/rules/pricing/items.py": "what cannot be ordered, which pages know by its code",
    "services/products/resources/questions.py": "parameters, which pages send as they must be",
    "services/products/resources/browse.py": "parameters, which pages send as they must be",
    "services/products/resources/context.py": "parameters, which pages send as they must be",
    "services/*/schemas/requests.py": "bodies, which pages send as they must be",
    "shared/customer_groups.py": "the environment",
    "services/products/resources/files.py": "reports of imports, which are in the language of the code",
    "services/users/resources/customer_files.py": "reports of imports, which are in the language of the code",
    "shared/import_files.py": "reports of imports, which are in the language of the code",
    "services/users/rules/customer_lines.py": "reports of imports, which are in the language of the code",
    "services/products/rules/shop_exports/*.py": "reports of imports, which are in the language of the code",
    "services/products/actions/named_pictures.py": "reports of imports, which are in the language of the code",
    "services/products/clients/*.py": "reports of imports, which are in the language of the code",
    "shared/couch/*.py": "the database",
    "shared/couch/search/*.py": "the database",
    "services/users/actions/sync*.py": "the replication protocol",
    "services/users/resources/sync.py": "the replication protocol",
    "services/users/actions/kept.py": "the replication protocol",
    "services/products/*/category_sync.py": "the replication protocol",
    "services/orders/*/archive*.py": "the operator's command",
    "shared/client.py": "calls from service to service",
    "shared/settings.py": "the environment",
    "shared/web/*.py": "headers, tokens and bodies that pages send as they must be",
    "shared/jobs.py": "workers",
    "shared/mail.py": "workers",
    "shared/tracing.py": "the environment",
    "shared/idempotency.py": "headers",
    "shared/language_codes.py": "how a field is described in the API",
}
"""Modules whose sentences no page shows, and why."""


def sentences() -> Iterator[tuple[str, str]]:
    """(module, sentence) of all that the services can say of a request; an f-string with 0 for each variable."""
    for folder in ("services/users", "services/orders", "services/products", "shared"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not any(Path(name).match(pattern) for pattern in FOR_PROGRAMS):
                yield from ((name, text) for text in _Sentences(name).of(path.read_text()))


class _Sentences(ast.NodeVisitor):
    def __init__(self, name: str) -> None:
        self.module = name.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
        self.found: list[str] = []

    def of(self, source: str) -> list[str]:
        self.visit(ast.parse(source))
        return self.found

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        if name.startswith("log.") or name in OTHERS | TRANSLATED or self._has_words(name):
            return
        for part in (node.func, *node.args, *(k.value for k in node.keywords if k.arg not in SAID_ELSEWHERE)):
            self.visit(part)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._add(
            "".join(str(each.value) if isinstance(each, ast.Constant) else VARIABLE for each in node.values)
        )

    def visit_Constant(self, node: ast.Constant) -> None:
        self._add(node.value)

    def _add(self, text: object) -> None:
        if isinstance(text, str) and SENTENCE.fullmatch(text):
            self.found.append(text)

    def _has_words(self, name: str) -> bool:
        """Whether it is an error whose code has words of its own, or one that pages call a failure of the shop."""
        if not name[:1].isupper():
            return False
        found = getattr(_imported(self.module), name, None)
        if not (inspect.isclass(found) and issubclass(found, AisleError)):
            return False
        return found.status >= 500 or found.code in CODES


@cache
def _imported(module: str) -> object:
    return importlib.import_module(module)


def test_every_sentence_of_a_service_has_words_in_the_catalogue() -> None:
    missing = sorted({each for each in sentences() if each[1] not in FOR_THE_API and not is_known(each[1])})
    assert missing == []


def test_no_sentence_is_excused_that_no_service_says() -> None:
    said = {text for _, text in sentences()}
    assert sorted(FOR_THE_API - said) == []
    assert sorted(text for text in FOR_THE_API if is_known(text)) == []


@pytest.mark.parametrize("pattern", FOR_PROGRAMS)
def test_no_module_is_excused_that_is_not_there(pattern: str) -> None:
    assert list(ROOT.glob(pattern)) != []


def test_a_sentence_without_words_is_found() -> None:
    source = 'def act(x):\n    """A docstring is none."""\n    raise Invalid(f"Nobody has heard of {x} yet.", errors={"x": ["This is new here."]})\n'
    found = _Sentences("shared/errors.py").of(source)
    assert found == ["Nobody has heard of 0 yet.", "This is new here."]
    assert [is_known(each) for each in found] == [False, False]


def test_every_act_of_staff_has_words_in_the_audit_trail() -> None:
    sources = [path.read_text() for path in ROOT.glob("services/*/resources/**/*.py")]
    acts = {act for source in sources for act in re.findall(r'@audited\(\s*"([^"]+)"', source)}
    assert len(acts) > 50
    assert acts - set(audit._ACTIONS) == set()


FOR_THE_API = {
    "The parcels have no numbers of their own yet.",  # a courier's
    "One of them may just be bought.",  # a replica's, as the next
    "Which shipment stays is not settled yet.",
    "The list of the order is behind.",
    # of errors whose codes have words, made elsewhere
    "Nothing was charged; order again with a new Idempotency-Key.",
    "This attempt to order was ended; order again with a new Idempotency-Key.",
    "Needed with this provider.",
    "This provider needs a token.",
    "Not the order's currency.",
    "Refund in the currency that was paid.",
    "Send the lines as 0.",
    "A guest gives an address.",
    "Log in, or give an email to order as a guest.",
    "Needed for guests.",
    "Must be 0, as in the path.",
    "Must be 0, as in the address.",
    "The productid cannot change.",
    "The code cannot change.",
    "The path cannot change.",
    "0 changed just now: send the line again.",
    "A category is a JSON object.",
    "A product is a JSON object.",
    "A line has at most 0 bytes.",
    "Not an object.",
    "The database refused it: 0 (0).",
    "Order 0 has reserved 0 of 0.",
    "The goods of order 0 were given back (0); place a new order.",
    "The goods of order 0 were sold to another customer.",
    "Not the id of a picture: POST /v1/pictures answers it.",
    "The account's documents keep changing; its erasure is tried again later.",
    "This refresh token was used before, so the session was ended. Log in again.",
    "Give line1, city, postcode and country, or a text.",
    # parts of sentences that have a row as a whole
    "0 Choose another: three or four words that do not belong together are good.",
    "It is among the passwords that are used, and tried, most.",
    "It is your name or e-mail.",
    "It repeats a few characters or counts them up.",
    # bodies that are no objects, which no form sends
    "Send a JSON object.",
    "Unknown field.",
    "0: Not an object.",
    "0: 0 is unknown.",
    "Entry 0 is not an object.",
    "Not a list of objects.",
    "Not a list of texts.",
    "Not a text.",
    "Not an object of at most 0 names.",
    "Not an object of at most 0 texts.",
    "Not an object of minor units by currency.",
    "Not {amount, currency}.",
    "Only amount and currency belong here.",
    "Use true or false.",
    "Write a time like 2026-11-20T23:11:00.000Z.",
    "Cannot add amounts in 0.",
}
"""Sentences that no page can bring about."""
