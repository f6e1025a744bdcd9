"""The AWS NeuronCore: its copy, cast, select and search instructions, on four generations.

``NeuronCore`` is the machine, ``decode``, ``encode`` and ``check`` work on single words and
``check_words`` on millions, the instruction classes are in ``lanewise.neuron.instructions``;
``walk`` and ``indirect`` write access patterns.
"""

from lanewise.neuron.bulk import BulkReport, Tally, check_words
from lanewise.neuron.core import NeuronCore
from lanewise.neuron.dispatch import AnyInstruction, check, decode, encode
from lanewise.neuron.dtypes import Dtype, find_dtype, scalar_bits
from lanewise.neuron.generation import GENERATIONS, Generation, Place, find_generation
from lanewise.neuron.instruction import Instruction, Unmodelled
from lanewise.neuron.memory import Memory
from lanewise.neuron.prepared import Prepared
from lanewise.neuron.profile import PROFILES, Profile
from lanewise.neuron.program import Dispatch
from lanewise.neuron.state import CoreState, Memories
from lanewise.neuron.words import Address, indirect, walk

__all__ = [
    "GENERATIONS",
    "PROFILES",
    "Address",
    "AnyInstruction",
    "BulkReport",
    "CoreState",
    "Dispatch",
    "Dtype",
    "Generation",
    "Instruction",
    "Memories",
    "Memory",
    "NeuronCore",
    "Place",
    "Prepared",
    "Profile",
    "Tally",
    "Unmodelled",
    "check",
    "check_words",
    "decode",
    "encode",
    "find_dtype",
    "find_generation",
    "indirect",
    "scalar_bits",
    "walk",
]
