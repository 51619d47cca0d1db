"""One form as data: the template draws it, `read` takes only the fields named in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from services.storefront.rules.messages import message
from services.storefront.rules.service_texts import service_text
from services.storefront.translation import gettext as _
from shared.errors import AisleError, Invalid

_QUANTITY = re.compile(r"-?[0-9]{1,6}")


_WHOLE = re.compile(r"[+-]?\d{1,9}")


@dataclass(frozen=True)
class Field:
    """One input. `kind` is an input type, or "textarea", "select", "check"."""

    name: str
    label: str
    kind: str = "text"
    required: bool = True
    autocomplete: str = ""
    help: str = ""
    max_length: int = 200
    min_length: int = 0
    options: tuple[tuple[str, str], ...] = ()
    inputmode: str = ""


@dataclass
class Form:
    """Fields with what was typed and what was wrong with it; `general` is what is wrong with no field in particular."""

    fields: tuple[Field, ...]
    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, list[str]] = field(default_factory=dict)
    general: str = ""
    restored: bool = False

    def read(self, sent: Mapping[str, str]) -> "Form":
        """Takes the sent values over and checks what can be checked here; passwords are not shown again."""
        for item in self.fields:
            text = sent.get(item.name, "")
            text = text if item.kind == "password" else text.strip()
            self.values[item.name] = text
            if wrong := _wrong(item, text):
                self.errors[item.name] = [wrong]
        return self

    def restore(self, values: Mapping[str, str]) -> "Form":
        """Shows again what was typed before; nothing is checked."""
        for item in self.fields:
            if item.kind != "password":
                self.values[item.name] = values.get(item.name, "")
        self.restored = True
        return self

    @property
    def open(self) -> bool:
        """Whether it is being filled in: a page does not fold it away."""
        return self.restored or not self.is_valid

    @property
    def is_valid(self) -> bool:
        return not self.errors and not self.general

    def add_errors(self, error: Invalid) -> None:
        """Puts a service's complaints beside their fields, the others on top."""
        names = {item.name for item in self.fields}
        for path, messages in error.errors.items():
            known = next((part for part in reversed(path.split(".")) if part in names), None)
            if known:
                self.errors.setdefault(known, []).extend(map(service_text, messages))
            else:
                self.general = " ".join([self.general, *map(service_text, messages)]).strip()
        if self.is_valid:
            self.general = message(error)


def _wrong(item: Field, text: str) -> str:
    if item.required and not text:
        return _("%(label)s is missing.", label=_(item.label))
    if text and len(text) < item.min_length:
        return _("At least %(count)s characters, please.", count=item.min_length)
    if len(text) > item.max_length:
        return _("At most %(count)s characters, please.", count=item.max_length)
    if item.kind == "email" and text and "@" not in text[1:-1]:
        return _("An e-mail address looks like name@example.com.")
    if item.kind == "select" and text and text not in dict(item.options):
        return _("Choose one of the list.")
    return ""


def split_list(text: str) -> list[str]:
    """ "red, blue" -> ["red", "blue"]"""
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_integer(text: str, name: str) -> int:
    """A whole number of at most nine digits. Raises Invalid on the field `name` otherwise."""
    if not _WHOLE.fullmatch(text.strip()):
        raise Invalid(errors={name: [_("Write a whole number, of nine digits at most.")]})
    return int(text)


def quantity(text: str, *, min: int, max: int) -> int:
    """How many of one product. Raises Invalid, in words for customers."""
    sent = text.strip()
    if not _QUANTITY.fullmatch(sent):
        raise Invalid(
            _("Write how many you want as a whole number from %(min)s to %(max)s.", min=min, max=max)
        )
    number = int(sent)
    if number < min:
        raise Invalid(_("Write how many you want: %(min)s or more.", min=min))
    if number > max:
        raise Invalid(_("A basket holds at most %(max)s of one product.", max=max))
    return number


def key(sent: Mapping[str, str]) -> str:
    """The key that a form was drawn with, for what must not happen twice when it is sent twice."""
    return sent.get("key", "")[:64]


def error_text(error: AisleError) -> str:
    """What is wrong, in words for a place without fields."""
    return message(error)
