from typing import Any

import numpy as np
from numpy.typing import NDArray

def merge_rows(
    destination: NDArray[Any], source: NDArray[Any], predicate: NDArray[np.uint8 | np.bool]
) -> None: ...
