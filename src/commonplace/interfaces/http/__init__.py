"""The HTTP service: parse, ask the engine, format. What a request may reach is decided in `access` alone."""
