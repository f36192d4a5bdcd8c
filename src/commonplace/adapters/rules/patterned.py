"""A language as a table: how its clauses come apart, how it denies, and one pattern for each thing that can be said.

English has a grammar of its own; this is the smaller way in for the next language. The facts are written in
English all the same.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from commonplace.adapters.rules.clause import Finding
from commonplace.adapters.rules.language import Reading, Statement
from commonplace.adapters.rules.patterns import Pattern
from commonplace.adapters.rules.render import USER, Who, predicate, sentence
from commonplace.adapters.rules.sentences import sentences
from commonplace.domain.claims import Standing


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that can be said. The pattern matches a clause without its negation; its group `v` is the value."""

    pattern: Pattern
    attribute: str
    verb: str
    tail: str = ""
    negated: tuple[str, str] | None = None
    """The attribute and verb that a negation turns it into."""
    one: bool = False
    """The value does not come apart at "and"."""
    value: str = ""
    """A fixed value, where the pattern has none."""
    only: frozenset[str] | None = None
    """Values, in lower case, that this rule is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patterned:
    """A language given by tables."""

    code: str
    cue: Pattern
    skip: Pattern
    """Sentences that state nothing about the user: conditions, wishes, reports, orders."""
    clause_break: Pattern
    ended: Pattern
    denied: Pattern
    conjunction: Pattern
    article: Pattern
    fillers: Pattern
    rules: tuple[Rule, ...]
    owned: Pattern
    """ "my <relation> (<name>)" at the start of a clause, with groups `noun` and `rest`."""
    owned_rules: tuple[Rule, ...]
    relations: Mapping[str, tuple[str, str]]
    """The relation's attribute and its English noun, by its noun in this language."""

    def concerns(self, text: str) -> bool:
        return self.cue.search(text) is not None

    def read(self, text: str, at: datetime) -> Reading:
        """Return the statements in the order of the text; times are not resolved in these languages."""
        found: list[Statement] = []
        for part in sentences(text):
            said = text[part.start : part.stop]
            if part.asks or self.skip.search(said):
                continue
            found.extend(self._clauses(said, part.start))
        return Reading(tuple(found))

    def _clauses(self, said: str, offset: int) -> Iterator[Statement]:
        begin = 0
        for match in [*self.clause_break.finditer(said), None]:
            end = match.start() if match is not None else len(said)
            for finding in self._clause(said[begin:end], offset + begin):
                yield Statement(finding=finding)
            begin = match.end() if match is not None else end

    def _clause(self, said: str, offset: int) -> Iterator[Finding]:
        clause, standing = self._polarity(said)
        clause = self.fillers.sub(" ", f" {clause} ").strip(" ,.!")
        owned = self.owned.match(clause)
        who, rules = USER, self.rules
        if owned is not None and owned["noun"].lower() in self.relations:
            noun = owned["noun"].lower()
            who, rules, clause = (
                Who(f"user's {noun}", f"User's {self.relations[noun][1]}"),
                self.owned_rules,
                owned["rest"],
            )
        for rule in rules:
            match = rule.pattern.match(clause)
            if match is None:
                continue
            values = self._values(match, rule)
            if values:
                span = (offset, offset + len(said))
                yield from (self._finding(rule, match, value, who, standing, span) for value in values)
                return

    def _polarity(self, said: str) -> tuple[str, Standing]:
        without, count = self.ended.subn(" ", said)
        if count:
            return (" ".join(self.denied.sub(" ", without).split()), "ended")
        without, count = self.denied.subn(" ", said)
        return (" ".join(without.split()), "denied" if count else "holds")

    def _values(self, match: re.Match[str], rule: Rule) -> list[str]:
        if rule.value:
            return [rule.value]
        said = match["v"]
        parts = [said] if rule.one else self.conjunction.split(said)
        values = [self.article.sub("", part.strip(" ,.!")).strip() for part in parts]
        return [
            value for value in values if value and len(value) < 60 and (rule.only is None or value.lower() in rule.only)
        ]

    def _finding(
        self, rule: Rule, match: re.Match[str], value: str, who: Who, standing: Standing, span: tuple[int, int]
    ) -> Finding:
        attribute, verb = rule.attribute, rule.verb
        if attribute == "relation":
            return self._named(value, who, span)
        if attribute == "favourite":
            kind = match["k"].lower()
            return Finding(
                attribute=f"favourite {kind}",
                value=value,
                text=f"User's favourite {kind} is {value}",
                start=span[0],
                stop=span[1],
            )
        if standing == "denied" and rule.negated is not None:
            attribute, verb = rule.negated
            standing = "holds"
        text = sentence(who, predicate(who, verb, standing=standing), value, rule.tail)
        return Finding(
            attribute=attribute, value=value, text=text, who=who, standing=standing, start=span[0], stop=span[1]
        )

    def _named(self, name: str, who: Who, span: tuple[int, int]) -> Finding:
        noun = who.key.removeprefix("user's ")
        attribute, english = self.relations[noun]
        return Finding(
            attribute=attribute, value=name, text=f"User has a {english} named {name}", start=span[0], stop=span[1]
        )
