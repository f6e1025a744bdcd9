"""What ``lanewise explain`` can explain, drawn from the descriptions that the code works with.

A source answers for some kinds of things: what they are called, and a topic for one of them.
"""

from lanewise.cli.explaining.topic import Section, Source, Topic, folded

__all__ = ["Section", "Source", "Topic", "folded"]
