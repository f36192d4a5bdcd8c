"""From any Python string to word pieces. Nothing is refused: what the tokenizer cannot read is replaced first."""

from collections.abc import Sequence

from tokenizers import Tokenizer

from commonplace.adapters.onnx.pinned import MAX_TOKENS

PREFIXES = (4_096, 65_536)
"""Characters to look at: the second only when the first give too few pieces (say, a page of blanks). The rest of a
longer text is never read, so that a hostile megabyte costs milliseconds, not seconds."""

# A word has at most 100 characters (a longer one is a single unknown piece), so a cut in the middle of a word cannot
# change the pieces that lie this far before it.
ENOUGH = MAX_TOKENS + 128

CONTINUED = "##"
"""What a piece begins with that goes on with the word of the piece before it."""
MARKS = ("[CLS]", "[SEP]")


class Pieces:
    def __init__(self, tokenizer: bytes) -> None:
        self._tokenizer = Tokenizer.from_buffer(tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(ENOUGH)

    def of(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of each text: at most 256, with the marks for its beginning and its end."""
        readable = [_readable(text) for text in texts]
        ids = self._encode([text[: PREFIXES[0]] for text in readable])
        short = [n for n, text in enumerate(readable) if len(text) > PREFIXES[0] and len(ids[n]) < ENOUGH]
        for n, more in zip(short, self._encode([readable[n][: PREFIXES[1]] for n in short]), strict=True):
            ids[n] = more
        return [pieces if len(pieces) <= MAX_TOKENS else [*pieces[: MAX_TOKENS - 1], pieces[-1]] for pieces in ids]

    def words(self, ids: Sequence[int]) -> list[str]:
        """Return, for each piece, the whole word that it is part of; "" for the marks of beginning and end."""
        pieces = [self._tokenizer.id_to_token(id_) or "" for id_ in ids]
        words: list[str] = []
        start = 0
        for at, piece in enumerate([*pieces[1:], ""], start=1):
            if not piece.startswith(CONTINUED):
                whole = "".join(part.removeprefix(CONTINUED) for part in pieces[start:at])
                words += ["" if whole in MARKS else whole] * (at - start)
                start = at
        return words

    def _encode(self, texts: list[str]) -> list[list[int]]:
        # encode_batch, also for one text: unlike encode it releases the GIL, so the event loop runs on.
        return [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]


def _readable(text: str) -> str:
    """Join surrogate pairs, and replace each half of one by U+FFFD: the tokenizer takes only what UTF-8 can say."""
    cut = text[: PREFIXES[-1]]
    if cut.isascii():
        return cut
    return cut.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
