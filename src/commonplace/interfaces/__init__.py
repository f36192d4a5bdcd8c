"""Ways in. Each parses, calls the engine, and formats; no rules live here."""
