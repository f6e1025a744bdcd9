"""Pack a real matrix into HiF4 with compares, selects and predicate packing.

``python -m examples.hif4_pack`` runs both chains on the machine, compares every bit with the
group quantiser, and prints what the format costs in accuracy.
"""
