"""Drop-in proxies: an app that speaks to OpenAI or Anthropic speaks to these instead, and has a memory."""
