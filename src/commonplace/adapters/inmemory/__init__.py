"""Adapters that keep everything in this process: trusted stand-ins that pass the same contracts."""

from commonplace.adapters.inmemory.ledger import InMemoryLedger

__all__ = ["InMemoryLedger"]
