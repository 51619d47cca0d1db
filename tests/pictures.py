"""Picture files for tests: small real ones, and those that shops must not choke on."""

import io
import struct
import zlib
from typing import Any

from PIL import Image


def encoded(picture: Image.Image, kind: str, **options: Any) -> bytes:
    target = io.BytesIO()
    picture.save(target, kind, **options)
    return target.getvalue()


def png(shade: int, size: tuple[int, int] = (1, 1)) -> bytes:
    """A plain grey picture."""
    return encoded(Image.new("RGB", size, (shade, shade, shade)), "PNG")


def photo(width: int, height: int) -> Image.Image:
    """Dark at the top left, light below, redder to the right."""
    down = Image.linear_gradient("L").resize((width, height))
    return Image.merge("RGB", (down.transpose(Image.Transpose.ROTATE_90).resize((width, height)), down, down))


def opened(content: bytes) -> Image.Image:
    picture = Image.open(io.BytesIO(content))
    picture.load()
    return picture


def shade_of(content: bytes) -> int:
    """The grey of a picture that `png` made, however it was written again."""
    level = opened(content).convert("RGB").getpixel((0, 0))
    assert isinstance(level, tuple)
    return round(level[0])


def bomb_png(side: int = 30_000) -> bytes:
    """Black pixels, a gigabyte when decoded, less than a hundred kilobytes here."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    packer, row = zlib.compressobj(9), bytes(1 + (side + 7) // 8)
    pixels = b"".join(packer.compress(row) for _ in range(side)) + packer.flush()
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def lying_png() -> bytes:
    """The head of a small picture, and a megabyte of pixels that are not in it."""
    whole = encoded(Image.new("RGB", (8, 8)), "PNG")
    head = whole[: whole.index(b"IDAT") - 4]
    data = zlib.compress(bytes(1_000_000))
    return (
        head + struct.pack(">I", len(data)) + b"IDAT" + data + struct.pack(">I", zlib.crc32(b"IDAT" + data))
    )


def animated(kind: str, frames: int = 40) -> bytes:
    pictures = [Image.new("RGB", (300, 200), (each * 5, 0, 0)) for each in range(frames)]
    return encoded(pictures[0], kind, save_all=True, append_images=pictures[1:], duration=40)


def with_exif(orientation: int, width: int = 900, height: int = 600) -> bytes:
    """A photograph of a camera that was held another way, with the place where it was taken."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x010E] = "taken at my home"
    exif.get_ifd(0x8825)[1] = "N"
    return encoded(photo(width, height), "JPEG", exif=exif)
