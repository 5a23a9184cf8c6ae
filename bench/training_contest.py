"""Common parts of the training benchmarks: `heed train`, and a peer in its own process.

Heed's figure is the one that it writes into training/metrics.jsonl; its first steps are not counted, and each turn goes
on with the same model directory. The peer is the row's own file as a script, given its job as an argument: serve() asks
it for its rate, turn by turn.
"""

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import CannotRun, Contest
from peer_process import PeerProcess, require_heed_and


class TrainingContest(Contest):
    """Subclasses set name, goal, operations, `packages`, `file` (their source file), `steps_a_turn` and `peer_seconds`,
    write the training text in write_text(), and configure the training in heed_arguments() and job()."""

    limit = "float32"
    packages = ("torch",)
    file = ""
    steps_a_turn = 60
    peer_seconds = 10

    def __init__(self, options):
        self.options = options
        self.folder = self.worker = None
        self.steps = 0
        self.heed_memory = 0

    def write_text(self):
        raise NotImplementedError

    def heed_arguments(self):
        """Arguments of `heed train`, except --output, --threads and --max-steps."""
        raise NotImplementedError

    def job(self):
        """The configuration for the peer; `model` is Heed's directory."""
        raise NotImplementedError

    def prepare(self):
        self.command = require_heed_and(self.packages)
        self.folder = Path(tempfile.mkdtemp())
        self.model = self.folder / "model"
        self.write_text()
        self.heed()  # learns the vocabulary, which the peer uses too

    def compare(self):
        """Losses of the first steps are not compared, since initial weights are random; tests/ compares outputs and
        gradients of the same model with PyTorch's."""
        return "compared by the tests"

    def heed(self):
        self.steps += self.steps_a_turn
        command = [self.command, "train", "--output", self.model, "--quiet", "--threads", self.options.threads]
        command += ["--max-steps", self.steps, *self.heed_arguments()]
        self.heed_memory = max(self.heed_memory, run_and_measure([str(each) for each in command]))
        rows = [json.loads(line) for line in open(self.model / "training/metrics.jsonl")]
        rates = [row["target_tokens_per_second"] for row in rows if "target_tokens_per_second" in row]
        return statistics.median(rates[-max(4, len(rates) // 4) :])

    def peer(self):
        if self.worker is None:
            job = {**self.job(), "model": str(self.model), "threads": self.options.threads}
            self.worker = PeerProcess(self.file, job)
        answer = self.worker.ask(self.peer_seconds)
        self.peer_memory = answer["memory"]
        return answer["rate"]

    def memory(self):
        return self.heed_memory, self.peer_memory

    def close(self):
        if self.worker:
            self.worker.close()
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)


def set_options(settings):
    """Converts {"model.width": 128} to options of `heed train`."""
    return [each for key, value in settings.items() for each in ("--set", f"{key}={value}")]


# A process inherits the reported peak memory of its parent, so a small process is started in between.
MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
"""


def run_and_measure(command, **more):
    """Runs the command; returns its peak memory in MB."""
    child = subprocess.run([sys.executable, "-S", "-c", MEASURE, *command], stdout=subprocess.PIPE, text=True, **more)
    if child.returncode != 0:
        raise CannotRun(f"`heed {command[1]}` ended with {child.returncode}")
    return int(child.stdout.split()[-1]) / 1024


def own_peak():
    """The peak memory of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return None


# ---- The peer, in its own process --------------------------------------------------------------------------


class Peer:
    """Subclasses create the model in __init__(job) and run one training step in step(), which returns its tokens."""

    def step(self):
        raise NotImplementedError

    def rate(self, seconds):
        """Tokens per second: the median of the steps."""
        self.step()
        rates, end = [], time.perf_counter() + seconds
        while len(rates) < 4 or time.perf_counter() < end:
            begin = time.perf_counter()
            tokens = self.step()
            rates.append(tokens / (time.perf_counter() - begin))
        return statistics.median(rates)


def serve(make_peer):
    """Reads durations in seconds, one per line, and answers each with a rate, until the end of input."""
    job, peer = json.loads(sys.argv[1]), None
    for line in sys.stdin:
        peer = peer or make_peer(job)
        rate = peer.rate(float(line))
        print(json.dumps({"rate": rate, "memory": own_peak()}), flush=True)
