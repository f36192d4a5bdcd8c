"""The memory as an MCP server: tools, resources and a prompt, over stdio or streamable HTTP."""
