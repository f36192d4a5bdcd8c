"""The native API, one module for each thing that it is about."""
