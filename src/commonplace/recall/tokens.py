"""How many tokens a text costs, without any model's tokenizer: an estimate on the high side.

A word costs one token for each four letters begun, every other sign (punctuation, emoji, CJK) one or more of its own,
which is at or above what the tokenizers of current models make of ordinary text.
"""

import re

_PIECES = re.compile(r"[^\W_]{1,4}|[^\w\s]|_|\n+", re.ASCII)
_OTHER = re.compile(r"[^\x00-\x7f]")


def count_tokens(text: str) -> int:
    if text.isascii():
        return len(_PIECES.findall(text))
    wide = _OTHER.findall(text)
    return (
        len(_PIECES.findall(_OTHER.sub(" ", text)))
        + sum(len(sign.encode("utf-8", "surrogatepass")) for sign in wide) // 2
        + 1
    )
