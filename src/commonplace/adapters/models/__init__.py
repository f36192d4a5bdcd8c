"""Learning with a language model: an Extractor over pydantic-ai."""
