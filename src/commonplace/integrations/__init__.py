"""Memory where people already work: one module or folder for each framework, none loaded before it is asked for."""
