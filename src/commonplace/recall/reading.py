"""What can be read in a file, as plain text. Nothing in it is run, followed or fetched."""

import codecs
from collections.abc import Callable, Mapping
from html.parser import HTMLParser

LONGEST = 200_000
"""Characters that are kept of one file: past them, it is found by what comes before."""
LARGEST = 10 << 20
"""Bytes of a file that is looked into at all."""
HTML = frozenset({"text/html", "application/xhtml+xml"})
_UNSEEN = frozenset({"script", "style", "template", "noscript", "svg", "head"})
_BREAKS = frozenset(
    {"p", "br", "div", "li", "tr", "section", "article", "header", "footer", "table", "ul", "ol", "blockquote", "pre"}
    | {f"h{level}" for level in range(1, 7)}
)
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))

Readers = Mapping[str, Callable[[bytes], str]]
"""For media types that need more than this module: from the bytes to the text. They raise ValueError."""


def text_in(data: bytes, media_type: str, readers: Readers) -> str:
    """Return what can be read in a file, up to `LONGEST`; empty where there is nothing, or it cannot be read."""
    if len(data) > LARGEST:
        return ""
    reader = readers.get(media_type)
    if reader is not None:
        try:
            return _tidy(reader(data))
        except ValueError:
            return ""
    if media_type == "application/pdf":
        return ""
    text = _decoded(data)
    return _tidy(_seen(text) if media_type in HTML else text)


def _decoded(data: bytes) -> str:
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _tidy(text: str) -> str:
    return text.replace("\0", " ")[:LONGEST].strip()


class _Seen(HTMLParser):
    """Gathers what a reader of the page would see."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._hidden.append(tag)
        if tag in _BREAKS:
            self.parts.append("\n")
        self.parts += [value for name, value in attrs if name == "alt" and value]

    def handle_endtag(self, tag: str) -> None:
        if tag in self._hidden:
            del self._hidden[self._hidden.index(tag) :]

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _seen(page: str) -> str:
    parser = _Seen()
    parser.feed(page)
    parser.close()
    lines = (" ".join(line.split()) for line in "".join(parser.parts).splitlines())
    return "\n".join(line for line in lines if line)
