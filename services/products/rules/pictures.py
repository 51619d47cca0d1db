"""What counts as a picture: told by its first bytes, whatever its name says."""

_BEGINNINGS = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def media_type(content: bytes) -> str | None:
    """The media type, None for anything that browsers might run instead of show."""
    for beginning, kind in _BEGINNINGS:
        if content.startswith(beginning):
            return kind
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return "image/avif" if content[4:12] in (b"ftypavif", b"ftypavis") else None
