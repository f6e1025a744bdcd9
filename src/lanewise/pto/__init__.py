"""The PTO tile machine: compare, select and predicate packing, bit for bit.

``PtoCore`` runs programs over four processing elements; ``Tile`` converts between NumPy arrays
and tile layouts; ``decode_word`` and ``encode`` are the words. ``instructions`` has one file an
instruction, ``hif4`` the HiF4 number format, ``proposal`` the earlier revision.
"""

from lanewise.pto.core import PtoCore
from lanewise.pto.datatypes import DataType
from lanewise.pto.faults import FaultKind, PtoFault
from lanewise.pto.geometry import Layout, cell_shape, element_address
from lanewise.pto.padding import PadValue
from lanewise.pto.profile import PtoProfile
from lanewise.pto.registers import Hand, TileName
from lanewise.pto.revisions import Revision
from lanewise.pto.state import Flag
from lanewise.pto.tile import Descriptor, Kind, Tile
from lanewise.pto.words import BundleWord, decode_word, encode

__all__ = [
    "BundleWord",
    "DataType",
    "Descriptor",
    "FaultKind",
    "Flag",
    "Hand",
    "Kind",
    "Layout",
    "PadValue",
    "PtoCore",
    "PtoFault",
    "PtoProfile",
    "Revision",
    "Tile",
    "TileName",
    "cell_shape",
    "decode_word",
    "element_address",
    "encode",
]
