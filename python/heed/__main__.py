"""The command `heed`: the console script of the package, and `python -m heed`."""

import os
import signal
import sys

from . import _heed
from .bundled import models_folder


def main() -> int:
    """Runs the command with this program's arguments and the models of the package; returns its exit status."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it; the command ends by it, as others in a pipe do
    if models_folder().is_dir():
        os.environ["HEED_MODELS"] = str(models_folder())
    return _heed.run_command([os.fsencode(each) for each in ("heed", *sys.argv[1:])])


if __name__ == "__main__":
    sys.exit(main())
