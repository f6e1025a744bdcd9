"""The instruction set to look at: a database of it, bit tables, differences of generations."""
