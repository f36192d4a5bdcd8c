"""Learning by rules: an Extractor that needs no model."""

from commonplace.adapters.rules.extractor import RuleExtractor
from commonplace.adapters.rules.guards import plants_instructions

__all__ = ["RuleExtractor", "plants_instructions"]
