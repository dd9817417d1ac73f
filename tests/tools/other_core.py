"""A pytest plugin: the core that `EPI_CORE` names, such as one with sanitizers, takes the place of the installed one.

Programs that tests start have the installed one.
"""

import importlib.util
import os
import sys

import epigym

_FOUND = importlib.util.spec_from_file_location("epigym._core", os.environ["EPI_CORE"])
assert _FOUND is not None
assert _FOUND.loader is not None
_CORE = importlib.util.module_from_spec(_FOUND)
_FOUND.loader.exec_module(_CORE)
sys.modules["epigym._core"] = _CORE
setattr(epigym, "_core", _CORE)  # noqa: B010  as an import does it
