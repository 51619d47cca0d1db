"""`python -m deploy.local.shop.photos` draws the sample shop's pictures anew into the folder beside it, with a browser (CHROME_PATH) and Pillow.

They are kept as files, so that a shop that starts has no drawing to do: the shape of a product in each of its colours, and
the box of each brand.
"""

import io
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

from deploy.local.shop.pictures import draw
from deploy.local.shop.products import SampleProduct, sample_products

FOLDER = Path(__file__).parent / "photos"
SIDE = 480
_BOX = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400"><rect width="400" height="400" fill="#faf8f4"/>'
    '<circle cx="200" cy="205" r="165" fill="#efe8da"/><ellipse cx="200" cy="338" rx="130" ry="12" fill="#4a3a22" opacity=".18"/>'
    '<path d="M80 150l120-50 120 50v140l-120 48-120-48z" fill="#c9a678"/><path d="M80 150l120 46v142l-120-48z" fill="#b98f5c"/>'
    '<path d="M80 150l120-50 120 50-120 46z" fill="#dcc19a"/><path d="M140 125l120 48v40l-22 9v-40l-120-48z" fill="#e9dcc3"/>'
    '<text x="262" y="262" font-family="serif" font-size="22" font-weight="bold" fill="#4a3a22" text-anchor="middle" '
    'transform="matrix(1 -.4 0 1 0 105)" textLength="104" lengthAdjust="spacingAndGlyphs">{brand}</text></svg>'
)


def file_of(shape: str, colour: str) -> Path:
    return FOLDER / f"{shape}-{colour}.webp"


def box_of(brand: str) -> Path:
    return FOLDER / f"box-{''.join(letter for letter in brand.lower() if letter.isalpha())}.webp"


def photos_of(item: SampleProduct) -> list[tuple[Path, str]]:
    """The pictures of a product with what they show: each of its colours, then its box."""
    name, brand = item.line["name"], item.line["brand"]
    colours = [(file_of(item.shape, each), f"{name} in {each}") for each in item.line["colours"]]
    return [*colours, (box_of(brand), f"The box that it comes in, with the name {brand}")]


def _drawings() -> Iterator[tuple[Path, str]]:
    catalogue = tomllib.loads((Path(__file__).parent / "catalogue.toml").read_text())
    pairs = sorted({(item.shape, colour) for item in sample_products() for colour in item.line["colours"]})
    for number, (shape, colour) in enumerate(pairs):
        yield file_of(shape, colour), draw(shape, catalogue["colours"][colour], number)
    for brand in catalogue["brands"]:
        yield box_of(brand), _BOX.format(brand=brand.replace("&", "&amp;"))


def main() -> None:
    from PIL import Image
    from playwright.sync_api import sync_playwright

    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROME_PATH"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": SIDE, "height": SIDE})
        for file, drawing in _drawings():
            page.set_content(f"<style>body{{margin:0}}svg{{display:block;width:{SIDE}px}}</style>{drawing}")
            Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(file, "WEBP", quality=82, method=6)
        browser.close()


if __name__ == "__main__":
    main()
