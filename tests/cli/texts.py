"""Assembly texts and an image for the command, written into the folder it runs in."""

from __future__ import annotations

from pathlib import Path

from tests.cli import programs

SEARCH = """\
.generation cayman
.buffer logits sbuf p0:128 @0 fp32[4096]
.buffer best   sbuf p0:128 fp32[8]
.buffer place  sbuf p0:128 uint16[8]

max8             dst=best[7; 8 step -1], src=logits
match_value_load src=best[7; 8 step -1]
find_index8      dst=place, src=logits
"""
BROKEN = """\
.generation cayman
.buffer logits sbuf p0:128 @0 fp32[4096]
max8 dst=fp61 logits[0; 8], src=logit, chanels=3
cast dst=fp16 sbuf[p0 0x100; 4], src=logits
"""
ILLEGAL = """\
.buffer logits sbuf p0:128 @0 fp32[4096]
max8 dst=logits[0; 7], src=logits[0; 4], channels=0
copy dst=int8 psum[p0, 0x10; 4], src=int8 sbuf[p0, 0; 4]
"""


COMPARE = """\
TCMP <Row=32, Col=1, FP32>, T#1, T#1, ->a5
BSTART.VEC TSEL, FP16   // nothing bound
BSTOP
"""


def _image() -> bytes:
    records = b"".join(
        bytes((0, 0, 0, opcode)) + (0x01003000 + 0xA0 * place).to_bytes(4, "little")
        for place, opcode in enumerate(bytes.fromhex("4145464751527b7c7d7ebef0f2"))
    )
    names = b"\0S: Copy\n" * 3 + b"\0S: MatchReplace\n" * 4 + b"\0S: CopyPredicated\n" * 4
    return bytes(64) + records + bytes(16) + names + b"P%i: Copy : num_chans=%d\0"


def write(folder: Path) -> None:
    """Put them there."""
    (folder / "search.nasm").write_text(SEARCH)
    (folder / "broken.nasm").write_text(BROKEN)
    (folder / "illegal.nasm").write_text(ILLEGAL)
    (folder / "compare.pto").write_text(COMPARE)
    (folder / "image.bin").write_bytes(_image())
    (folder / "rest.bin").write_bytes(programs.CAST + b"\x47\x10\x00")
