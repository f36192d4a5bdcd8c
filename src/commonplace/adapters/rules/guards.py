"""What is not a statement of the user about the user's own world: questions, suppositions, other people's words,
jokes, orders, code.

A guard looks at words, never at what would be learned: when in doubt the sentence is left to the raw log.
"""

from typing import Literal, NamedTuple

from commonplace.adapters.rules.patterns import Pattern

Verdict = Literal["read", "skip", "skip rest", "skip order"]
"""`skip rest`: what follows is somebody's text (a letter, something to translate).

`skip order`: only the clause of the order is left out.
"""

_MUST = r"(?:you (?:must|should|will|are to|have to|need to|are|can|may)|to (?:always|never)|always|never)"
_PLANTED = Pattern(
    r"\b(?:ignore|disregard|forget|override) (?:all |any |the |your |everything )*(?:previous|prior|above"
    r"|earlier|existing|system|other) ?(?:instructions?|prompts?|rules|messages|guidelines|text)?"
    rf"|\b(?:remember|note|memori[sz]e|store|save|keep in mind|don'?t forget)\b"
    rf"(?:(?!\b(?:i|my|we|our|i'm|i've)\b)[^.!?\n]){{0,30}}?\b{_MUST}\b"
    rf"|\byou must (?:always |never )?remember\b|\bfrom now on,? (?:you|always|never|ignore|act|respond|reply"
    rf"|answer)\b"
    r"|\b(?:new|updated) (?:system )?(?:instructions|prompt|rules)\b|\bsystem prompt\b|\bdeveloper mode\b"
    r"|\bjailbreak\b|\byou are now\b"
    r"|\breveal your (?:prompt|instructions)\b|\badd (?:this|the following) to (?:your )?(?:memory|instructions)\b",
)
_SUPPOSED = Pattern(
    r"\b(?:if|unless|suppose|supposing|imagine|imagining|pretend|pretending|assume|assuming|hypothetically"
    r"|theoretically|in another life|in a parallel"
    r"|let us say|let's say|lets say|in my dreams?|as if|as though|wish|wished|wishes|in case|whether|wonder"
    r"|wondering|wondered|would have|could have|should have"
    r"|for the sake of argument|once upon a time|thought about|when i (?:win|die|grow|become|retire|get rich)"
    r"|in (?:the|my|this|a) (?:\w+ )?(?:game|story|novel|movie|song|play|dream|book|role-?play|simulation"
    r"|scenario|film|show)(?! (?:industry|business|world))|my character|my avatar)\b"
    r"|\bi (?:dreamed|dreamt|thought|pretended|imagined|assumed|hoped|lied|doubt|hope i|do(?:n't| not) think"
    r"|do(?:n't| not) know(?! how to)|was told|forgot|am not sure|'m not sure)\b"
)
_STAGED = Pattern(
    r"\b(?:let's|lets|let us|can we|could we|shall we) (?:do an? |start an? )?"
    r"(?:role-?play|rp\b|play (?:a|an|the|pretend)\b)"
    r"|^\s*(?:role-?play|rp)\b"
    r"|\byou(?:'re| are|'ll be| will be| play) (?:now )?(?:an?|the|my) [^.!?]{1,40}?(?:,| and|;)"
    r" (?:i'm|im|i am|i'll be|i will be|i play) "
)
"""What follows is played."""
_JOKE = Pattern(
    r"(?:^|\s)/s\b|\byeah,? right\b|\bjust kidding\b|\bjk\b|\bkidding\b|\bnot really\b|\boh great\b"
    r"|\bjust what i needed\b|\b(?:sure|yeah|right),? because i\b|\bloo{2,}ve\b"
    r"|\bsaid no one\b|\bsarcas|\bjoking\b|\bhaha+,? (?:no|not)\b|\bi'?m dead\b|\bking of france\b"
    r"|\bwow,? i just\b|\btotally the (?:king|queen)\b"
    r"|\b(?:oh|yeah|yea|sure|great|ah)\b[^.!?]{0,20}? i (?:just|totally|simply|so) (?:love|adore|enjoy)\b"
)
_JOKE_SIGNS = frozenset("🙄🙃😏")
_REPORT = (
    r"(?:said|says|say|told|tells|tell|claims?|claimed|thinks?|thought|believes?|believed|asked|asks|insists?"
    r"|insisted|suggested|suggests|argues?|argued"
    r"|wrote|writes|sings?|sang|shouted|accused|swears|heard|joked|jokes|assumes?|assumed|mentioned|mentions)"
)
_REPORTED = Pattern(
    rf"\b(?!i\b|we\b|and\b|already\b|never\b|always\b|just\b|can\b|will\b|to\b|not\b|who\b"
    rf"|often\b)([\w']+) (?:also |always |never |often |just |once |used to )?{_REPORT}\b[^.!?]*?\b(?:i|i'm|im"
    rf"|my|we|me)\b|\baccording to\b|\bto quote\b|\bin the words of\b"
    r"|\b(?:as|like) (?!i\b|we\b)[\w']+(?: [\w']+){0,2}"
    r" (?:puts? it|(?:once |always |used to )?(?:said|says?|wrote|writes|sang|sings?))\b"
)
_TO_OTHERS = Pattern(r"\bi (?:\w+ )?(?:told|tell|lied to|said to|promised) (?!you\b)\w+")
_CODE = Pattern(
    r"[{}]|=>|==|!=|&&|\|\||\bdef \w+\(|\bconst \w+|\blet \w+ =|\bselect\b.+\bfrom\b|\btraceback\b|(?<!:)//"
    r"|\bfunction\s*\(|^\s*(?:import|from) \w+|</\w+|#include|\w+\(\w*\)|^\s*#|;\s*$|\w+_\w+ ?="
)
_POLITE = (
    r"(?:(?:please|pls|ok|okay|now|then|also|so|and|just|hey|hi|thanks|great|can you|could you|would you"
    r"|will you|can u|i want you to|i need you to|i'd like you to|help me(?: to)?)[, ]+)*"
)
_WRITTEN = (
    r"(?:write|rewrite|draft|translate|compose|reply|respond|proofread|paraphrase|rephrase|summari[sz]e|edit"
    r"|correct|fix|act|roleplay|role-play|say|tell|create|generate"
    r"|make|describe|explain|repeat|continue|complete|finish|check|review|analy[sz]e|improve|convert|shorten"
    r"|expand|answer|output|print|show|give|read|evaluate|grade|format|classify|guess|call it|address|speak|talk"
    r"|ask|send|text|email|message)"
)
_ORDERED = (
    r"(?:recommend|suggest|find|search|list|compare|plan|help|look|book|order|schedule|calculate|compute|set|add"
    r"|remove|delete|update|change|open|close|run|play|turn|stop|start|use|try"
    r"|keep|let|go|do(?! not have)|don't(?! have)|do not(?! have)"
    r"|never|always|think|consider|take|put|pick|choose|install|define|count|sort"
    r"|remind|forget|remember|note|wait|be|avoid|ignore|include)"
)
_WRITING = Pattern(rf"\s*{_POLITE}{_WRITTEN}\b(?! me (?!a |an |the |some |how|why|what))")
_ORDER = Pattern(rf"\s*{_POLITE}{_ORDERED}\b")
_TEXTS = (
    r"(?:text|review|e-?mail|letter|article|sentences?|paragraph|essay|message|post|bio|draft|document|log"
    r"|transcript|lyrics|poem|story|following|resume|cv|code|output|error|quote"
    r"|snippet|passage|excerpt|abstract|comment|tweet|grammar|spelling|conversation|chat|prompt|into \w+|to \w+)"
)
_INTRODUCED = Pattern(
    rf"\b{_TEXTS}\b[^:\n]{{0,40}}:|\b(?:the|this) following\b|^\s*(?:dear|to whom it may concern)\b|\b(?:here is"
    rf"|here's|see|read) (?:the|an?|my|this) (?:\w+ )?{_TEXTS}\b"
)
_REMEMBER = Pattern(
    r"\s*(?:(?:please|pls|and|also|ok|so|hey)[, ]+)*(?:(?:can|could) you )?"
    r"(?:(?P<strong>remember|note|keep in mind|bear in mind|don't forget|do not forget|dont forget|never forget"
    r"|make a note|take note|important)"
    r"|(?P<weak>fyi|for the record|just so you know|for your information|for context|quick context|some context"
    r"|context|btw|by the way|for reference|about me|a bit about me|note to self))"
    r"(?: that)?[,:!]?(?: that)?\s+(?=(?:i|i'm|im|i've|my|we|our|we're|we've)\b)"
)
_SAYING = Pattern(
    r"\s*(?:(?P<hedge>i (?:think|guess|suspect|believe)(?: that)? (?=(?:i|i'm|im|i've|my|we)\b))"
    r"|(?:as|like) i (?:said|mentioned|told you|wrote)(?: before| earlier)?[ ,]+"
    r"|i (?:already |just |also )?(?:told you|mentioned|should (?:mention|add|say|note)|must (?:admit|say)"
    r"|have to (?:admit|say)|forgot to (?:mention|say)|want to (?:add|mention)|realised|realized|found out"
    r"|swear)(?: that)?,? (?=(?:i|i'm|im|i've|my|we|our)\b))"
)


class Opening(NamedTuple):
    """What stands before the statement: "remember that", "I think"."""

    stop: int
    weight: float
    hedged: bool


def plants_instructions(text: str) -> bool:
    """Say whether a message tries to give the assistant standing orders through its memory.

    Such a message is kept, and nothing is learned from it.
    """
    return _PLANTED.search(text.lower()) is not None


def judge(low: str, tail: str) -> Verdict:
    """Decide about one sentence, given in lower case, with the marks that close it."""
    if _INTRODUCED.search(low) or _STAGED.search(low):
        return "skip rest"
    if _WRITING.match(low):
        return "skip rest" if ":" in low else "skip"
    if _SUPPOSED.search(low) or _JOKE.search(low) or not _JOKE_SIGNS.isdisjoint(tail) or "/s" in tail:
        return "skip"
    if _REPORTED.search(low) or _TO_OTHERS.search(low) or _CODE.search(low):
        return "skip"
    return "skip order" if _ORDER.match(low) and not _REMEMBER.match(low) else "read"


def opening(low: str) -> Opening:
    """Return where the statement itself begins, and what was said about it before."""
    at, weight, hedged = 0, 0.0, False
    while True:
        match = _REMEMBER.match(low, at)
        if match is not None:
            weight = max(weight, 0.3 if match["strong"] else 0.1)
        else:
            match = _SAYING.match(low, at)
            if match is None:
                return Opening(at, weight, hedged)
            hedged = hedged or match["hedge"] is not None
        at = match.end()
