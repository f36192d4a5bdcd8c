"""What kind of file some bytes are. Bytes that say it themselves are believed before any name or label."""

from fnmatch import fnmatchcase
from mimetypes import MimeTypes

from commonplace.domain.errors import InvalidInput

HEAD = 512
"""So many of the first bytes are enough to tell."""
UNKNOWN, PLAIN = "application/octet-stream", "text/plain"
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Those that a browser shows and that cannot hold a script: their bytes were looked at."""
READABLE = frozenset({"application/json", "application/xhtml+xml", "application/pdf"})
_OURS = {".md": "text/markdown", ".markdown": "text/markdown", ".csv": "text/csv", ".webp": "image/webp"}


def sniffed(head: bytes) -> str | None:
    """Return the type that the first bytes of a file name, if they do."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    if head.startswith(b"%PDF-"):
        return "application/pdf"
    return None


def type_of(head: bytes, *, name: str | None, declared: str | None) -> str:
    """Return the media type of a file. Raises InvalidInput for one that claims to be what its bytes are not."""
    if found := sniffed(head):
        return found
    claimed = parse_type(declared) if declared is not None else _by_name(name) or _by_bytes(head)
    if claimed in IMAGES or claimed == "application/pdf":
        raise InvalidInput(f"type={claimed!r}: its bytes are not those of such a file")
    return claimed


def parse_type(value: object) -> str:
    """Return a media type in lower case, without its parameters."""
    text = value.partition(";")[0].strip().lower() if isinstance(value, str) else ""
    kind, slash, subtype = text.partition("/")
    if not (slash and _token(kind) and _token(subtype)):
        raise InvalidInput(f"type={value!r}: expected a media type like image/png")
    return text


def allowed(media_type: str, patterns: str) -> bool:
    """Tell whether a type fits one of some patterns like `image/*,text/*`."""
    return any(fnmatchcase(media_type, pattern.strip().lower()) for pattern in patterns.split(","))


def readable(media_type: str) -> bool:
    """Tell whether there may be text in a file of that type."""
    return media_type.startswith("text/") or media_type in READABLE


def _token(text: str) -> bool:
    return bool(text) and len(text) <= 100 and all(one.isalnum() or one in "!#$&^_.+-" for one in text)


def _by_name(name: str | None) -> str | None:
    if name is None:
        return None
    ending = f".{name.rpartition('.')[2].lower()}" if "." in name else ""
    # Without files of the system: the same name has the same type on every machine.
    return _OURS.get(ending) or MimeTypes(filenames=()).guess_type(f"file{ending}")[0]


def _by_bytes(head: bytes) -> str:
    if b"\0" in head:
        return UNKNOWN
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # The last character may have been cut in two.
        return PLAIN if error.start > len(head) - 4 and len(head) >= HEAD else UNKNOWN
    return PLAIN
