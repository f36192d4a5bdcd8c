"""Sets of words, written as the running text that they are easiest to read and extend in."""


def word_set(text: str) -> frozenset[str]:
    """Single words, apart by white space."""
    return frozenset(text.split())


def phrase_set(text: str) -> frozenset[str]:
    """Phrases, apart by commas."""
    return frozenset(" ".join(phrase.split()) for phrase in text.split(","))
