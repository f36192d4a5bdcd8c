"""A habit as a fact: the verb with what follows it.

How often stands in the text, not in the value, so that an ending finds it.
"""

from commonplace.adapters.rules.clause import Clause, Finding, told
from commonplace.adapters.rules.render import predicate, sentence, third_person


def habit(clause: Clause) -> Finding:
    """The verb with what follows, without how often: that stands in the text."""
    end = next(
        (
            place
            for place, token in enumerate(clause.rest)
            if token.low in {",", "but", "because", "so", "when", "while", "if", "i"}
        ),
        len(clause.rest),
    )
    after = third_person(clause.rest[:end])
    value = f"{clause.group.lemma} {after}".strip()
    adverbs = sorted(clause.group.adverbs & {"usually", "always", "often", "sometimes"})
    spoken = predicate(clause.who, f"{clause.group.lemma} {after}".strip(), standing=clause.standing)
    return told(clause, "habit", value, sentence(clause.who, *adverbs, spoken, how_often(clause)))


def how_often(clause: Clause) -> str:
    """ "every Sunday", with the names of days written as names."""
    said = " ".join(moment.said for moment in clause.moments if moment.role == "often").replace("my ", "their ")
    return " ".join(
        word.capitalize() if "day" in word and word not in {"day", "days", "weekday", "weekdays", "daily"} else word
        for word in said.split()
    )
