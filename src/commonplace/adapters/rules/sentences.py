"""Cutting a message into sentences.

What is not the user's own plain words (code, quotations, tags) is blanked, place for place.
"""

import re
from typing import NamedTuple

from commonplace.adapters.rules.patterns import Pattern
from commonplace.adapters.rules.wordsets import word_set

READ_AT_MOST = 4_000
LEAD_IN = 600
"""A longer text is taken for a pasted document: only what stands before it, the first paragraph, is read."""


class Sentence(NamedTuple):
    start: int
    stop: int
    asks: bool
    """Ends with a question mark."""
    tail: str
    """The marks and signs that close it."""


_ODD = Pattern(
    r"[\u0000-\u001f\u007f-\u009f\u00a0\u2000-\u200f\u2028-\u202f\ufeff\u00ad\ud800-\udfff\u2018\u2019\u201a\u2032\u201c\u201d\u201e\u00ab\u00bb\u02bc\uff07`]"
)
_PLAIN = {
    "‘": "'",
    "’": "'",
    "‚": "'",
    "′": "'",
    "ʼ": "'",
    "＇": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "\n": "\n",
    "`": "`",
}
_FOREIGN = Pattern(
    r"```.*?(?:```|\Z)"
    r"|`(?=[^`\n]*\W)[^`\n]*`"
    r"|<(\w+)[^<>\n]*>.*?</\1>"
    r"|^[ \t]*>[^\n]*$"
    r"|^[ \t]*(?:assistant|system|ai|bot|user|human|tool)[ \t]*:[^\n]*$"
    r"|https?://\S+"
    r"|\([^()\n]{60,}\)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
_ASIDE = Pattern(r"(?<=[\w,] )\((?:[\w'/+-]+ ?){1,3}\)(?=,| and\b| or\b| [a-z])|(?<=\w )\(\d{1,2}\)")
"""A few words in brackets in the middle of a sentence: "nuts and (weirdly) kiwis", "Noah (9), Mia (6)"."""
_LABELLED = Pattern(
    r"^[ \t]*(?:\[[^\]\n]{1,24}\][ \t]*|\d\d?:\d\d(?: ?[ap]m)?[ \t,-]+)?"
    r"(?P<who>[A-Z][\w.'-]*(?: [A-Z][\w.'-]*)?|(?:customer|client|agent|interviewer|caller|guest|patient|friend))"
    r"[ \t]*:[ \t]+[^\n]*$",
    re.MULTILINE,
)
"""A line with the name of who says it: "Mary: I love skiing"."""
_OWN_LABELS = word_set(
    "me myself note notes update edit correction ps p.s fyi btw context background reminder info about question today"
    " status summary work job home diet food allergies allergy health family pets pet hobbies hobby interests location"
    " name age school study studies tools likes dislikes travel plans goal goals important remember tldr tl;dr intro"
    " profile bio preferences money music sports languages fact facts also first second third one two finally option"
    " problem issue situation answer reply news confession warning disclaimer spoiler thanks sorry actually anyway"
    " thing things budget role title company car housing living relationship exercise fitness sleep breakfast lunch"
    " dinner drinks coffee books movies tv games tech phone laptop setup stack"
)
_CLOSING = Pattern(
    r"^[ \t]*(?:(?:best|kind|warm|many|with kind|all the) (?:regards|wishes|best)|regards|sincerely|yours \w+"
    r"|best|cheers|love|thanks|thank you|lg|br),?[ \t]*\n+[ \t]*[A-Z][\w.' -]{0,40}[ \t]*\Z",
    re.MULTILINE | re.IGNORECASE,
)
_GREETING = Pattern(
    r"^[ \t]*(?:hi|hello|hey|dear|good (?:morning|afternoon))\b[^\n]{0,40}[,!:]?[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_HEADERS = Pattern(
    r"^[ \t]*(?:from|to|subject|date|sent|cc|reply-to):[^\n]*\n+[ \t]*(?:from|to|subject|date|sent|cc|reply-to):",
    re.MULTILINE | re.IGNORECASE,
)
_QUOTED = Pattern(r'"([^"\n]*)"|(?<!\w)\'([^\'\n]{2,}?)\'(?!\w)')
_OWN_VOICE = Pattern(r"\b(?:i|my|me|we|our|ich|mein\w*|yo|mi)\b", re.IGNORECASE)
_EMOJI = "\U0001f000-\U0001faff\u2600-\u27bf\ufe0f\u200d"
_END = Pattern(
    rf"(?P<marks>[.!?…]+|(?=\n)|(?=[{_EMOJI}]))(?P<close>[\"')\]]*)(?P<signs>[ \t]*[{_EMOJI}]+)?(?=\s|\Z)|\n+"
)
_NO_END = Pattern(r"(?:\b(?:st|dr|mr|mrs|ms|prof|vs|e\.g|i\.e|approx|no|jr|sr)|(?<![\w'])[A-Za-z])\.\Z", re.IGNORECASE)


def plain(text: str) -> str:
    """Return the text with odd signs replaced one for one, so that every place stays the same."""
    return _ODD.sub(lambda match: _PLAIN.get(match.group(), " "), text)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match.group())


def _unsaid(match: re.Match[str]) -> str:
    """Blank what somebody else is said to say; a heading of the user's own ("Work: I'm a nurse") is none."""
    *_, last = match["who"].lower().split()
    return match.group() if last in _OWN_LABELS else _blank(match)


def _unquote(match: re.Match[str]) -> str:
    inside = match.group(1) if match.group(1) is not None else match.group(2)
    if _OWN_VOICE.search(inside) or inside.count(" ") > 3:
        return "…" + " " * (len(match.group()) - 2) + "…" if len(match.group()) > 1 else " "
    return f" {inside} "


def own_words(text: str) -> str:
    """Return the part worth reading, of the same length or shorter: foreign text is blank, short quoted names lose
    their quotes."""
    read = text if len(text) <= READ_AT_MOST else text[:LEAD_IN].split("\n\n", 1)[0]
    read = _before_a_letter(read) if "\n" in read else read
    if "`" in read or "<" in read or ">" in read or ":" in read or "(" in read:
        read = _FOREIGN.sub(_blank, read)
        read = _LABELLED.sub(_unsaid, read) if ":" in read else read
    if "(" in read:
        read = _ASIDE.sub(lambda match: match.group() if _OWN_VOICE.search(match.group()) else _blank(match), read)
    if '"' in read or "'" in read:
        read = _QUOTED.sub(_unquote, read)
    return read


def _before_a_letter(text: str) -> str:
    """Return what stands before a letter that was pasted: one with a sender and a subject, or with a name under it."""
    headers = _HEADERS.search(text)
    if headers is not None:
        return text[: headers.start()]
    if _CLOSING.search(text) is None:
        return text
    greeting = _GREETING.search(text)
    return text[: greeting.start()] if greeting is not None else ""


def sentences(text: str) -> list[Sentence]:
    found: list[Sentence] = []
    begin = 0
    for match in _END.finditer(text):
        if match.start() < begin or _NO_END.search(
            text, max(0, match.start() - 6), match.start("close") if match["close"] is not None else match.end()
        ):
            continue
        if text[begin : match.start()].strip():
            found.append(Sentence(begin, match.start(), "?" in match.group(), match.group().strip()))
        begin = match.end()
    if text[begin:].strip():
        found.append(Sentence(begin, len(text), False, ""))
    return found
