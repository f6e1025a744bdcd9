"""``python -m lanewise.cli`` is ``lanewise``."""

import sys

from lanewise.cli.application import main

sys.exit(main())
