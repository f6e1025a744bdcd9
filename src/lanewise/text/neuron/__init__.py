"""The assembly language of the NeuronCore, derived from the fields of the instructions."""

from lanewise.text.neuron.assembler import Assembly, Item, assemble
from lanewise.text.neuron.printer import Printer, disassemble
from lanewise.text.neuron.symbols import Buffer
from lanewise.text.neuron.syntax import syntax

__all__ = ["Assembly", "Buffer", "Item", "Printer", "assemble", "disassemble", "syntax"]
