"""A document set by Typst with fonts of our own: FiraGO (Latin, Greek, Cyrillic, Arabic, Hebrew, Thai and more), Noto Sans CJK beside it.

PDF/A takes no text that no font has, so what is missing is known: such characters are written as their numbers, [U+1F600], and the
document says so.
"""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import noto_cjk_sans_otc
import typst
from pymupdf_fonts import FiraGO_Bold, FiraGO_Regular

TEMPLATE: Final = Path(__file__).with_name("document.typ")
STANDARD: Final = "a-2b"
CJK: Final = Path(noto_cjk_sans_otc.__file__).parent
_MISSING: Final = re.compile(r'the text `"((?:[^"\\]|\\.)*)"` could not be displayed')
_ESCAPED: Final = re.compile(r"\\u\{([0-9a-f]+)\}|\\(.)")
_SIMPLE: Final = {"n": "\n", "r": "\r", "t": "\t", "0": "\0"}
MAX_ROUNDS: Final = 3


def typeset(page: dict[str, Any], logo: bytes | None) -> bytes:
    """Without the logo if that is no picture which can be printed."""
    missing: set[str] = set()
    with TemporaryDirectory() as directory:
        folder = Path(directory)
        (folder / "FiraGO-Regular.ttf").write_bytes(FiraGO_Regular.fontbuffer)
        (folder / "FiraGO-Bold.ttf").write_bytes(FiraGO_Bold.fontbuffer)
        (folder / "document.typ").write_bytes(TEMPLATE.read_bytes())
        if logo:
            (folder / "logo").write_bytes(logo)
        for _ in range(MAX_ROUNDS):
            try:
                return _compiled(folder, _without(page, missing), bool(logo))
            except typst.TypstError as error:
                found = _missing_characters(error.diagnostic)
                if found <= missing:
                    if logo:
                        return typeset(page, None)
                    raise
                missing |= found
        return _compiled(folder, _without(page, missing), bool(logo))


def _compiled(folder: Path, page: dict[str, Any], has_logo: bool) -> bytes:
    (folder / "page.json").write_text(json.dumps(page | {"has_logo": has_logo}))
    found: bytes = typst.compile(
        str(folder / "document.typ"),
        root=str(folder),
        font_paths=[str(folder), str(CJK)],
        ignore_system_fonts=True,
        pdf_standards=[STANDARD],
    )
    return found


def _missing_characters(diagnostic: str) -> set[str]:
    return {
        character for text in _MISSING.findall(diagnostic) for character in _ESCAPED.sub(_unescaped, text)
    }


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _SIMPLE.get(found[2], found[2])


def _without(page: dict[str, Any], missing: set[str]) -> dict[str, Any]:
    """The page with these characters written as their numbers, and a note that says so."""
    if not missing:
        return page
    numbers = {ord(each): f"[U+{ord(each):04X}]" for each in missing}
    note = str(page["missing"]).format(characters=", ".join(f"U+{each:04X}" for each in sorted(numbers)))
    replaced: dict[str, Any] = _replaced(page, numbers)
    return replaced | {"notes": [*replaced["notes"], note]}


def _replaced(value: Any, numbers: dict[int, str]) -> Any:
    if isinstance(value, str):
        return value.translate(numbers)
    if isinstance(value, list):
        return [_replaced(each, numbers) for each in value]
    if isinstance(value, dict):
        return {name: _replaced(each, numbers) for name, each in value.items()}
    return value
