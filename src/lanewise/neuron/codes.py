"""What the codes in instruction words mean: commands, modes, sources.

Source: common header and pattern layouts of the ISA headers; the same in every generation.
"""

from __future__ import annotations

from types import MappingProxyType

DEBUG_COMMANDS = MappingProxyType(
    {0: "none", 1: "notify", 3: "start", 5: "end", 7: "start and end", 9: "instruction field"}
)
WAIT_MODES = MappingProxyType(
    {
        0: "none",
        1: "semaphore == value",
        2: "semaphore < value",
        3: "semaphore <= value",
        4: "semaphore > value",
        5: "semaphore >= value",
        6: "event set",
        7: "event set, then clear it",
        14: "event clear",
        15: "event clear, then set it",
    }
)
_UPDATES_AT_READ = {
    1: "event set",
    2: "event clear",
    3: "semaphore + 1",
    4: "semaphore - 1",
    5: "semaphore += value",
    7: "semaphore -= value",
    9: "semaphore = value",
    0x83: "register form",
    0x85: "semaphore += register",
    0x87: "semaphore -= register",
}
# An update at completion has the code of the same update at read plus 16.
UPDATE_MODES = MappingProxyType(
    {0: "none"}
    | {code: f"{text}, at read" for code, text in _UPDATES_AT_READ.items()}
    | {code + 16: f"{text}, at completion" for code, text in _UPDATES_AT_READ.items()}
)
IMMEDIATE_SOURCES = MappingProxyType({0: "inline", 1: "pointer", 2: "register"})
ACCUMULATOR_COMMANDS = MappingProxyType(
    {
        0: "idle",
        1: "zero",
        2: "accumulate",
        3: "zero then accumulate",
        4: "load then accumulate",
    }
)
REVERSED_OPERANDS = MappingProxyType({0: "none", 1: "first", 2: "second", 3: "both"})
SUBDIMENSIONS = MappingProxyType({0: "unused", 2: "X", 3: "XY", 4: "XYZ", 5: "XYZW"})
ADDRESS_MODES = MappingProxyType({0: "direct", 1: "indirect", 2: "shape in register", 3: "unused"})

REGISTERS = 64
REGISTER_MARKERS = frozenset({0x80, 0xA0, 0xC0})
