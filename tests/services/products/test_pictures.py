"""Pictures: stored in three widths, several to a product, and hostile files refused."""

import re
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from PIL import Image

from services.products.actions.pictures import attach
from services.products.imaging import Busy, ImagingProcess, Rendered, TooManyPixels, Unreadable
from services.products.store.pictures import Pictures
from shared.clock import timestamp
from tests.pictures import (
    animated,
    bomb_png,
    encoded,
    lying_png,
    opened,
    photo,
    png,
    shade_of,
    with_exif,
)
from tests.services.products.conftest import ADMIN, Answer, Shop, open_as_worker, product, token

IMAGE = {**token(*ADMIN), "Content-Type": "application/octet-stream"}


def upload(shop: Shop, content: bytes) -> Answer:
    return shop.request("POST", "/v1/pictures", content, IMAGE)


def stored(shop: Shop, content: bytes) -> str:
    """The id of a picture that was taken."""
    answer = upload(shop, content)
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


def shown(shop: Shop, productid: str) -> list[tuple[str, str]]:
    return [(each["id"], each["alt"]) for each in shop.ok(f"/v1/products/{productid}")["pictures"]]


def test_a_picture_is_stored_in_three_widths_and_two_formats(shop: Shop) -> None:
    answer = upload(shop, encoded(photo(3000, 2000), "JPEG"))
    assert (answer.status, answer.json["content_type"]) == (201, "image/jpeg")
    assert (answer.json["width"], answer.json["height"]) == (1280, 853)
    assert answer.headers["Location"] == answer.json["image"] == f"/v1/pictures/{answer.json['id']}"
    sizes = {"": 1280, "/1280": 1280, "/640": 640, "/320": 320}
    for path, width in {**sizes, "/1280.webp": 1280, "/640.webp": 640, "/320.webp": 320}.items():
        file = shop.get(answer.json["image"] + path)
        kind = "webp" if path.endswith("webp") else "jpeg"
        assert (file.status, file.headers["Content-Type"]) == (200, f"image/{kind}")
        assert (opened(file.body).format, opened(file.body).width) == (kind.upper(), width)
        assert file.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert file.calls == {"read": 1}
        again = shop.get(answer.json["image"] + path, {"If-None-Match": file.headers["ETag"]})
        assert (again.status, again.body) == (304, b"")
    assert upload(shop, encoded(photo(3000, 2000), "JPEG")).json == answer.json, "the same file again"


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (encoded(photo(500, 400), "PNG"), "image/png"),
        (encoded(photo(500, 400).quantize(32), "GIF"), "image/png"),
        (encoded(photo(500, 400), "WEBP"), "image/webp"),
        (encoded(photo(500, 400), "AVIF"), "image/webp"),
        (encoded(photo(500, 400).convert("CMYK"), "JPEG"), "image/jpeg"),
        (encoded(Image.effect_noise((1200, 1200), 200).convert("RGB"), "PNG"), "image/jpeg"),
    ],
    ids=["png", "gif", "webp", "avif", "cmyk", "a photograph as PNG"],
)
def test_every_format_is_shown_as_one_that_all_browsers_know(shop: Shop, content: bytes, kind: str) -> None:
    answer = upload(shop, content)
    assert (answer.status, answer.json["content_type"]) == (201, kind)
    full, small = (shop.get(answer.json["image"] + path) for path in ("", "/320"))
    assert full.headers["Content-Type"] == small.headers["Content-Type"] == kind
    assert opened(small.body).width == 320
    assert len(full.body) == answer.json["size"]


def test_what_is_transparent_stays_so(shop: Shop) -> None:
    glass = Image.new("RGBA", (50, 50), (255, 0, 0, 0))
    image = f"/v1/pictures/{stored(shop, encoded(glass, 'PNG'))}"
    for path in ("", "/320.webp"):
        assert opened(shop.get(image + path).body).getpixel((10, 10))[3] == 0  # type: ignore[index]


@pytest.mark.parametrize("orientation", [3, 6, 8])
def test_a_photograph_stands_upright_and_tells_nothing_else(shop: Shop, orientation: int) -> None:
    """The camera's own numbers: 6 is turned clockwise to be looked at."""
    answer = upload(shop, with_exif(orientation))
    assert (answer.json["width"], answer.json["height"]) == ((900, 600) if orientation == 3 else (600, 900))
    for path in ("", "/640", "/320.webp"):
        file = shop.get(answer.json["image"] + path).body
        assert not dict(opened(file).getexif())
        assert b"taken at my home" not in file
    upright = opened(shop.get(answer.json["image"]).body).convert("L")
    width, height = upright.size
    corners = [
        upright.getpixel(at) for at in ((5, 5), (width - 5, 5), (width - 5, height - 5), (5, height - 5))
    ]
    darkest = {3: 2, 6: 1, 8: 3}[orientation]
    assert min(range(4), key=lambda at: corners[at]) == darkest, corners


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_an_animation_is_its_first_frame(shop: Shop, kind: str) -> None:
    image = f"/v1/pictures/{stored(shop, animated(kind))}"
    for path in ("", "/320.webp"):
        assert getattr(opened(shop.get(image + path).body), "n_frames", 1) == 1


def test_nothing_that_hides_in_a_picture_is_served(shop: Shop) -> None:
    hidden = b"<script>alert(document.cookie)</script>"
    image = f"/v1/pictures/{stored(shop, png(77, (40, 40)) + hidden)}"
    for path in ("", "/640", "/320.webp"):
        file = shop.get(image + path)
        assert hidden not in file.body
        assert file.headers["X-Content-Type-Options"] == "nosniff"


JPEG = encoded(photo(800, 600), "JPEG")
HOSTILE = {
    "svg": (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "not a JPEG, PNG"),
    "svg that begins as GIF": (b"GIF89a<svg onload='alert(1)'/>", "damaged"),
    "html as JPEG": (b"\xff\xd8\xff<html><script>alert(1)</script>", "damaged"),
    "text": (b"just words", "not a JPEG, PNG"),
    "nothing": (b"", "not a JPEG, PNG"),
    "cut off": (JPEG[: len(JPEG) // 2], "cut off"),
    "zeros": (b"\x89PNG\r\n\x1a\n" + bytes(1000), "damaged"),
    "bomb": (bomb_png(), "too many pixels"),
    "TIFF": (encoded(photo(20, 20), "TIFF"), "not a JPEG, PNG"),
    "broken WebP": (encoded(photo(300, 300), "WEBP")[:200], "damaged"),
    "broken AVIF": (encoded(photo(300, 300), "AVIF")[:200], "damaged"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_picture_is_refused_in_words(shop: Shop, name: str) -> None:
    content, words = HOSTILE[name]
    answer = upload(shop, content)
    assert (answer.status, answer.json["code"]) == (422, "bad_picture"), answer.body
    assert words in answer.json["detail"]
    assert stored(shop, png(5)), "the next picture is taken"


def test_too_many_bytes_and_strangers_are_refused(shop: Shop) -> None:
    shop.load([product("pic2")])
    assert upload(shop, png(1) + bytes(5_000_000)).status == 413
    for body, status in ((b"<svg onload='x'/>", 422), (b"\xff\xd8\xff" + b"x" * 5_000_001, 413)):
        assert shop.request("PUT", "/v1/products/pic2/picture", body, IMAGE).status == status
    assert shop.ok("/v1/products/pic2")["image"] == ""
    assert shop.request("POST", "/v1/pictures", png(1), {"Content-Type": "image/png"}).status == 401
    for unknown in ("unknown", "a:b", "0" * 64, "_design", f"{'0' * 64}/640", f"{stored(shop, png(9))}/99"):
        assert shop.get(f"/v1/pictures/{unknown}").status == 404


def test_memory_is_bounded_and_the_service_goes_on() -> None:
    imaging = ImagingProcess()
    for content in (bomb_png(), encoded(Image.new("RGB", (5100, 5000)), "PNG", compress_level=1)):
        with pytest.raises(TooManyPixels):
            imaging.convert(content)
    assert imaging.convert(lying_png()).width == 8
    assert imaging.convert(encoded(photo(4800, 4800), "JPEG", progressive=True)).width == 1280
    process = imaging._process
    assert isinstance(process, subprocess.Popen)
    status = Path(f"/proc/{process.pid}/status").read_text()
    peak = int(status[status.index("VmHWM:") :].split()[1])
    assert peak < 330 * 1024, f"{peak} KiB"
    process.kill()
    assert imaging.convert(png(3)).width == 1, "one that died is replaced"


def test_a_picture_that_computes_for_too_long_is_refused() -> None:
    imaging = ImagingProcess(cpu_seconds=0.25)
    with pytest.raises(Unreadable):
        imaging.convert(encoded(photo(4800, 4800), "PNG", compress_level=1))
    assert imaging.convert(JPEG).width == 800


def test_a_picture_on_a_busy_machine_is_not_called_broken() -> None:
    """It was refused as damaged where others had the processor for eight seconds."""
    slow = ImagingProcess(cpu_seconds=2)
    assert _converted_while_stopped(slow, seconds=3).width == 800
    with pytest.raises(Busy):
        _converted_while_stopped(ImagingProcess(seconds=1), seconds=3)


def _converted_while_stopped(imaging: ImagingProcess, seconds: float) -> Rendered:
    """A picture whose process does not have the processor for so long."""
    imaging.convert(png(3))
    process = imaging._process
    assert process is not None
    process.send_signal(signal.SIGSTOP)
    with ThreadPoolExecutor(1) as meanwhile:
        converting = meanwhile.submit(imaging.convert, JPEG)
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)
        return converting.result()


def test_a_product_has_several_pictures_in_an_order(shop: Shop, catch_up: Callable[[], None]) -> None:
    first, second, third = (stored(shop, png(shade, (2, 2))) for shade in (11, 12, 13))
    pictures = [{"id": first, "alt": "From the front"}, {"id": second}]
    created = shop.admin("POST", "/v1/products", product("several", pictures=pictures))
    assert (created.status, created.json["image"]) == (201, f"/v1/pictures/{first}")
    assert shown(shop, "several") == [(first, "From the front"), (second, "")]
    pictures = [{"id": third, "alt": "Box"}, {"id": first, "alt": "Front"}]
    changed = shop.admin("PUT", "/v1/products/several", created.json | {"pictures": pictures})
    assert (changed.status, changed.json["image"]) == (200, f"/v1/pictures/{third}")
    assert shown(shop, "several") == [(third, "Box"), (first, "Front")]
    catch_up()
    listed = shop.ok("/v1/products", q="several")["items"]
    assert [each["id"] for each in listed[0]["pictures"]] == [third, first]
    without = shop.admin("PUT", "/v1/products/several", changed.json | {"pictures": []})
    assert (without.json["image"], without.json["pictures"]) == ("", [])


def test_who_knows_one_image_alone_goes_on_as_before(shop: Shop) -> None:
    first, second, third = (stored(shop, png(shade, (3, 2))) for shade in (21, 22, 23))
    address = "/v1/pictures/{}".format
    created = shop.admin("POST", "/v1/products", product("single", image=address(first)))
    assert shown(shop, "single") == [(first, "")]
    pictures = [{"id": first, "alt": "Front"}, {"id": second, "alt": "Back"}]
    shop.admin("PUT", "/v1/products/single", created.json | {"pictures": pictures})
    old = product("single", image=address(first), brand="Other")
    assert shop.load([old])["updated"] == 1
    assert shown(shop, "single") == [(first, "Front"), (second, "Back")], "what it does not name stays"
    whole = shop.ok("/v1/products/single")
    shop.admin("PUT", "/v1/products/single", whole | {"image": address(third)})
    assert shown(shop, "single") == [(third, ""), (second, "Back")], "a changed image is the first picture"
    shop.request("PUT", "/v1/products/single/picture", png(21, (3, 2)), IMAGE)
    assert shown(shop, "single") == [(first, ""), (second, "Back")]
    lines = [product("single", image=address(third), pictures=[{"id": first}, {"id": third}])]
    assert [shop.load(lines)[what] for what in ("updated", "unchanged")] == [1, 1]
    assert shown(shop, "single") == [(first, ""), (third, "")]
    contradiction = product("single", image=address(second), pictures=[{"id": third}])
    assert "leave one of the two out" in shop.load([contradiction])["failed"][0]["detail"]
    assert "image" in shop.admin("PUT", "/v1/products/single", contradiction).json["errors"]
    shop.load([product("single", image="/media/mug.svg")])
    assert (shop.ok("/v1/products/single")["image"], shown(shop, "single")) == ("/media/mug.svg", [])
    assert shop.load([product("single", image="/media/mug.svg")])["unchanged"] == 1
    both = product("single", image="/media/mug.svg", pictures=[{"id": first}])
    assert [shop.load([both])[what] for what in ("updated", "unchanged")] == [1, 1]
    assert shown(shop, "single") == [(first, "")], "an address elsewhere is for pages that know no pictures"


@pytest.mark.parametrize(
    ("pictures", "words"),
    [
        ([{"id": "0" * 64}], "There is no picture 000"),
        ([{"id": "short"}], "Entry 1, id: "),
        ([{"alt": "x"}], "Entry 1: id is missing"),
        (["x"], "Entry 1 is not an object"),
        ([{"id": "1" * 64, "src": "x"}], "Entry 1: src is unknown"),
        ("x", "Not a list"),
        ([{"id": f"{number:064x}"} for number in range(21)], "20 entries at most, not 21"),
        ([{"id": "2" * 64}, {"id": "2" * 64}], "comes twice"),
        ([{"id": "3" * 64, "alt": "x" * 301}], "0 to 300"),
    ],
)
def test_pictures_that_are_not_there_or_not_right_are_refused(shop: Shop, pictures: Any, words: str) -> None:
    line = product("wrong", pictures=pictures)
    answer = shop.admin("POST", "/v1/products", line)
    assert answer.status == 422
    assert words in " ".join(answer.json["errors"]["pictures"])
    imported = shop.load([product("right"), line])
    assert [(each["line"], each["code"]) for each in imported["failed"]] == [(2, "invalid_product")]
    assert words in imported["failed"][0]["detail"]


def test_pictures_are_exported_and_imported(shop: Shop) -> None:
    ids = [stored(shop, png(shade, (2, 3))) for shade in (31, 32)]
    alts = ["=SUM(1)|\\ \"quoted\", 'and' more", "über"]
    pictures = [{"id": each, "alt": alt} for each, alt in zip(ids, alts, strict=True)]
    shop.load([product("moved", pictures=pictures, image="")])
    for kind in ("application/x-ndjson", "text/csv"):
        export = shop.request("GET", "/v1/products/export", None, token(*ADMIN) | {"Accept": kind})
        shop.admin("DELETE", "/v1/products/moved")
        headers = token(*ADMIN) | {"Content-Type": kind}
        answer = shop.request("POST", "/v1/products/import", export.body, headers).json
        assert (answer["created"], answer["updated"], answer["failed"]) == (1, 0, [])
        assert shown(shop, "moved") == list(zip(ids, alts, strict=True))
    text = export.body.replace(b'[{""id""', b'[[[""id""')
    assert b'[[[""id""' in text
    failed = shop.request("POST", "/v1/products/import", text, headers).json["failed"]
    assert "pictures: Not a list" in failed[0]["detail"]


def test_a_picture_of_the_last_release_is_shown_and_stored_anew(
    shop: Shop, environment: dict[str, str]
) -> None:
    """It was stored in one size, as it had been sent."""
    pictures = open_as_worker(environment).pictures
    content = encoded(photo(2000, 1000), "JPEG")
    digest = stored(shop, content)
    docid = f"picture{digest}:file"
    doc = pictures._database.get(docid)
    kept = {name: value for name, value in doc.items() if name not in ("_attachments", "width", "height")}
    rev = pictures._database.put(kept)
    pictures._database.put_attachment(docid, rev, "picture", content, "image/jpeg")
    for path in ("", "/640", "/320.webp"):
        assert shop.get(f"/v1/pictures/{digest}{path}").body == content
    assert upload(shop, content).json["width"] == 1280
    assert opened(shop.get(f"/v1/pictures/{digest}/640").body).width == 640


def test_a_picture_overwrites_nothing_that_was_changed_meanwhile(
    shop: Shop, environment: dict[str, str]
) -> None:
    shop.load([product("busy", brand="Old")])
    deps = open_as_worker(environment)

    class Slow(Pictures):
        def add(self, *args: Any) -> None:
            assert shop.admin("PUT", "/v1/products/busy", product("busy", brand="New")).status == 200
            super().add(*args)

    slow = replace(deps, pictures=Slow(deps.pictures._database))
    attach(slow, "busy", png(40), 1000, timestamp())
    after = shop.ok("/v1/products/busy")
    assert (after["brand"], shade_of(shop.get(after["image"]).body)) == ("New", 40)


def test_one_picture_may_come_twice_at_once(shop: Shop) -> None:
    shop.load([product(f"alike{n}") for n in range(12)])
    with ThreadPoolExecutor(12) as pool:
        places = [f"/v1/products/alike{n}/picture" for n in range(12)]
        answers = list(pool.map(lambda place: shop.request("PUT", place, png(50), IMAGE), places))
    assert [answer.status for answer in answers] == [200] * 12
    assert shade_of(shop.get(answers[0].json["image"]).body) == 50


def test_an_import_reads_pictures_only_where_it_names_new_ones(shop: Shop) -> None:
    digest = stored(shop, png(60))
    lines = [product(f"cheap{n}", pictures=[{"id": digest, "alt": ""}]) for n in range(3)]
    text = b"\n".join(orjson.dumps(line) for line in lines)
    headers = token(*ADMIN) | {"Content-Type": "application/x-ndjson"}
    first, again = (shop.request("POST", "/v1/products/import", text, headers) for _ in range(2))
    assert again.json["unchanged"] == 3
    reads = [re.findall(r'read;[^,]*desc="(\d+)"', each.headers["Server-Timing"]) for each in (first, again)]
    assert reads == [["2"], ["1"]], "the products themselves, and once their pictures"
