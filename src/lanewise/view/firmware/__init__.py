"""Looking into firmware images: dispatch tables of kernels and the names of instructions.

Works on any binary: what is no firmware gives an empty report, never an error.
"""

from lanewise.view.firmware.image import Image, opened_image, parse_image
from lanewise.view.firmware.names import Names, SelfName, find_names
from lanewise.view.firmware.tables import Record, Search, Table, find_tables

__all__ = [
    "Image",
    "Names",
    "Record",
    "Search",
    "SelfName",
    "Table",
    "find_names",
    "find_tables",
    "opened_image",
    "parse_image",
]
