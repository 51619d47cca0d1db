"""How a language is named: `de`, `pt-BR`, `zh-Hant`."""

from typing import Final

LANGUAGE: Final = "[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?"
LANGUAGE_MESSAGE: Final = "A language's code, such as de or pt-BR."
