"""What the desk's forms hold of translations: a field for each text and language, `name_de`, and labels in lines, `Red = Rot`."""

from collections.abc import Iterable, Mapping, Sequence

from services.storefront.translation import gettext as _
from shared.errors import Invalid
from shared.types import Json

LABELS = "labels"
PAIRS = (LABELS, "names")
"""Texts in lines."""


def field_name(text: str, language: str) -> str:
    return f"{text}_{language}"


def values_of(found: Mapping[str, Json], texts: Sequence[str], languages: Iterable[str]) -> dict[str, str]:
    """What is said in these languages, as the form's fields show it."""
    return {
        field_name(text, each): _typed(found.get(each, {}).get(text)) for each in languages for text in texts
    }


def body_of(
    values: Mapping[str, str], before: Mapping[str, Json], texts: Sequence[str], languages: Iterable[str]
) -> dict[str, Json]:
    """All translations, these texts as they were typed; what the form does not show stays. Raises Invalid by field."""
    found = {each: dict(said) for each, said in before.items()}
    for each in languages:
        said = found.pop(each, {})
        for text in texts:
            name = field_name(text, each)
            said.pop(text, None)
            if typed := values.get(name, "").strip():
                said[text] = labels_in(typed, name) if text in PAIRS else typed
        if said:
            found[each] = said
    return found


def labels_in(typed: str, name: str) -> dict[str, str]:
    """Raises Invalid on the field `name` for a line that is none."""
    labels: dict[str, str] = {}
    for line in filter(None, map(str.strip, typed.splitlines())):
        text, equals, label = (part.strip() for part in line.partition("="))
        if not (text and equals and label):
            raise Invalid(errors={name: [_("Write each in a line of its own: Red = Rot")]})
        labels[text] = label
    return labels


def _typed(said: object) -> str:
    if isinstance(said, dict):
        return "\n".join(f"{text} = {label}" for text, label in said.items())
    return str(said or "")
