"""The command `heed`: the console script of the package, and `python -m heed`."""

import os
import sys

from . import _heed
from .bundled import models_folder


def main() -> int:
    """Runs the command with this program's arguments and the models of the package; returns its exit status."""
    if models_folder().is_dir():
        os.environ["HEED_MODELS"] = str(models_folder())
    return _heed.run_command([os.fsencode(each) for each in ("heed", *sys.argv[1:])])


if __name__ == "__main__":
    sys.exit(main())
