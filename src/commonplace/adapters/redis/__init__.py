"""Redis, in front of a ledger: everything here is a copy that may be lost at any moment (decision 0013)."""
