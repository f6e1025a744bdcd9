"""The proposal revision: ordered 32-bit predicate planes, and P2R.

It came before the frozen revision and is kept as an executable sibling. A program for
``PtoCore(revision="proposal")`` is a sequence of the operations below::

    core.run([proposal.Tcmp("LT", DataType.FP16, Layout.CUBE_M32, left, right, dst=(4, 5))])

Source: PTO proposal revision.
"""

from lanewise.pto.proposal._operation import PLANE_ROWS, ProposalOperation, planes_per_cell
from lanewise.pto.proposal.p2r import P2r
from lanewise.pto.proposal.tcmp import Tcmp
from lanewise.pto.proposal.tsel import Tsel

__all__ = ["PLANE_ROWS", "P2r", "ProposalOperation", "Tcmp", "Tsel", "planes_per_cell"]
