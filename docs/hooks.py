"""Makes one page an instruction from the instruction files while the site is built."""

from __future__ import annotations

from typing import Any

from mkdocs.structure.files import File, Files

from lanewise.neuron.instructions import BY_OPCODE
from lanewise.view.isa.bit_table import svg_table
from lanewise.view.isa.database import database
from lanewise.view.isa.export import markdown_page


def _address(opcode: int) -> str:
    return f"instructions/{BY_OPCODE[opcode].name.lower()}.md"


def on_config(config: Any) -> Any:
    """List the instruction pages in the navigation."""
    pages = [{entry.name: _address(entry.opcode)} for entry in database().instructions]
    config["nav"].append({"Instructions": pages})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages: what ``lanewise isa show`` says, with the bit table drawn."""
    for entry in database().instructions:
        title, *rest = markdown_page(entry)
        drawing = svg_table(BY_OPCODE[entry.opcode])
        content = "\n".join([title, "", drawing, "", *rest])
        files.append(File.generated(config, _address(entry.opcode), content=content))
    return files
