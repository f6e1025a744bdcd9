"""Beam search on a modelled NeuronCore, checked bit by bit against plain NumPy.

``model`` counts a bigram language model from the Python documentation, ``program`` writes the
instruction words of one step, ``search`` runs them and joins the beams, ``reference`` is the same
search without the machine, ``report`` prints. Run it with ``python -m examples.beam_search``.
"""
