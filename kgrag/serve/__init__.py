"""Servers over a knowledge base: for assistants by MCP, for people and programs by HTTP."""
