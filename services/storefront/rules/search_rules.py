"""Synonyms as lines of text: `sofa = settee, couch`, and `trainers > running shoes` for one way only."""

from services.storefront.translation import gettext as _
from shared.errors import Invalid
from shared.types import Json

MAX_LINES = 20


def rules_of_lines(text: str) -> list[tuple[int, str, Json]]:
    """(line number, query, body) of each line that is not empty. Raises Invalid naming the first that is wrong."""
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > MAX_LINES:
        raise Invalid(errors={"lines": [_("At most %(count)s lines at once.", count=MAX_LINES)]})
    return [(number, *_rule(number, line)) for number, line in lines]


def _rule(number: int, line: str) -> tuple[str, Json]:
    sign = next((each for each in line if each in "=>"), "")
    query, _sign, others = line.partition(sign or "=")
    synonyms = [part.strip() for part in others.split(",") if part.strip()]
    if not sign or not query.strip() or not synonyms:
        wrong = _(
            "Line %(number)s: write “sofa = settee, couch”, or “trainers > running shoes” for one way only.",
            number=number,
        )
        raise Invalid(errors={"lines": [wrong]})
    return query.strip(), {"synonyms": synonyms, "one_way": sign == ">"}
