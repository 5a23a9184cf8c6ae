"""A peer in its own process: a script that is given its job as JSON and answers each line with a line of JSON."""

import json
import os
import subprocess
import sys
from importlib import util

from harness import ROOT, CannotRun


def require_heed_and(packages):
    """Returns the path of the command. Raises CannotRun if it or one of the Python packages is missing."""
    command = ROOT / "build/bin/heed"
    if not command.exists():
        raise CannotRun(f"{command} is missing")
    for package in packages:
        if util.find_spec(package) is None:
            raise CannotRun(f"{package} is not installed")
    return command


class PeerProcess:
    def __init__(self, script, job, **environment):
        self._process = subprocess.Popen(
            [sys.executable, script, json.dumps(job)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

    def ask(self, request):
        """Sends a line; returns the answer."""
        self._process.stdin.write(f"{request}\n")
        self._process.stdin.flush()
        return self.answer()

    def answer(self):
        """The next answer. Raises CannotRun if the process has ended."""
        line = self._process.stdout.readline()
        if not line:
            raise CannotRun("the peer's process ended")
        return json.loads(line)

    def close(self):
        self._process.stdin.close()
        self._process.wait()
