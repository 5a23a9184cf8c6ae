"""Common parts of all benchmark rows: contests between Heed and a peer, and statistics of their turns.

A contest is prepared once, compared once, and then run in turns: Heed, peer, Heed, peer, and so on. The machine's speed
drifts, so the ratio of each turn is taken, and the median of these ratios is the result; their smallest and largest are
the spread.
"""

import ctypes
import os
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class CannotRun(Exception):
    """Raised, with the reason, if a row cannot run on this machine or installation."""


class Disagree(Exception):
    """Raised if the results of Heed and the peer differ."""


class Contest:
    """A benchmark row. Subclasses in rows/NAME.py set these attributes and implement the abstract methods."""

    name = ""
    unit = ""  # of the figures; more is better, except for times ("ms")
    goal = None  # the ratio wanted; None: only shown
    limit = None  # which of Machine.LIMITS bounds it
    operations = None  # of the limit's kind for one unit of work; for "ms", for one call

    def prepare(self):
        """Prepares the turns; may raise CannotRun."""

    def compare(self):
        """Describes the difference of the outputs in a few words; raises Disagree if it is too large."""
        raise NotImplementedError

    def heed(self):
        """Runs one turn of Heed; returns the result in `unit`."""
        raise NotImplementedError

    def peer(self):
        raise NotImplementedError

    def memory(self):
        """Peak memory in MB of (Heed, the peer), or None if they share a process."""
        return None

    def close(self):
        """Terminates processes and removes files."""


class CallContest(Contest):
    """A row in which Heed and the peer are functions in this process."""

    unit = "ms"
    seconds = 0.25  # of one side of one turn

    def call_heed(self):
        raise NotImplementedError

    def call_peer(self):
        raise NotImplementedError

    def heed(self):
        return self._milliseconds(self.call_heed)

    def peer(self):
        return self._milliseconds(self.call_peer)

    def _milliseconds(self, call):
        """The median time of the calls of one turn, without the first call."""
        call()
        times, end = [], time.perf_counter() + self.seconds
        while len(times) < 5 or time.perf_counter() < end:
            begin = clock()
            call()
            times.append(clock() - begin)
        return statistics.median(times) * 1000


def clock():
    """The time in seconds; see choose_clock()."""
    return _clock()


def clock_of_commands():
    """The time in seconds by which processes that have ended are measured."""
    return _clock_of_commands()


def _children_time():
    used = os.times()
    return used.children_user + used.children_system


_clock = _clock_of_commands = time.perf_counter


def choose_clock(name):
    """Selects "wall", or "cpu": processor time of this process, or of those that it ran, for busy machines. With one
    thread both are equal on an idle machine."""
    global _clock, _clock_of_commands
    if name == "cpu":
        _clock, _clock_of_commands = time.process_time, _children_time


class Machine:
    """Peak performance of the processor, measured between the contests."""

    LIMITS = {
        "float32": "GFLOP/s of float32 multiply-adds from registers",
        "bandwidth": "GB/s of reading memory in order",
    }

    def __init__(self, threads):
        self.threads = threads
        self.library = load_library()

    def limit(self, kind):
        """Operations, or bytes, per second: of all threads, or of one for the bandwidth, which threads share."""
        done = ctypes.c_int64()
        best = 0.0
        for _ in range(5):
            begin = clock()
            if kind == "bandwidth":
                self.library.heed_bench_read_memory(ctypes.byref(done))
            else:
                self.library.heed_bench_multiply_add(ctypes.c_int64(200_000), ctypes.byref(done))
            best = max(best, done.value / (clock() - begin))
        return best if kind == "bandwidth" else best * self.threads


_library = None


def load_library():
    """Heed's side of the benchmarks of single operations: bench/library."""
    global _library
    if _library is None:
        path = ROOT / "build/lib/libheed_bench.so"
        if not path.exists():
            raise CannotRun(f"{path} is missing; `make bench` builds it")
        _library = ctypes.CDLL(str(path))
        _library.heed_bench_multiply_add.restype = ctypes.c_float
        _library.heed_bench_isa.restype = ctypes.c_char_p
        _library.heed_bench_gemm_library.restype = ctypes.c_char_p
    return _library


@dataclass
class Result:
    """A row of the report. If it could not run, only `name`, `goal` and `note` are set."""

    name: str
    heed: float | None = None
    peer: float | None = None
    unit: str = ""
    ratio: float | None = None
    goal: float | None = None
    share_of_limit: float | None = None
    peer_share_of_limit: float | None = None
    ratio_lowest: float | None = None
    ratio_highest: float | None = None
    memory_mb: float | None = None
    peer_memory_mb: float | None = None
    note: str = ""


def run(contest, machine, turns):
    """Runs all turns of one contest."""
    result = Result(name=contest.name, unit=contest.unit, goal=contest.goal)
    try:
        contest.prepare()
        result.note = contest.compare()
        heed, peer, shares, peer_shares = [], [], [], []
        for _ in range(turns):
            limit = machine.limit(contest.limit) if contest.limit else None
            heed.append(contest.heed())
            peer.append(contest.peer())
            if limit and contest.operations:
                shares.append(_operations_per_second(contest, heed[-1]) / limit)
                peer_shares.append(_operations_per_second(contest, peer[-1]) / limit)
        ratios = [p / h if contest.unit == "ms" else h / p for h, p in zip(heed, peer)]
        result.heed, result.peer = statistics.median(heed), statistics.median(peer)
        result.ratio = statistics.median(ratios)
        result.ratio_lowest, result.ratio_highest = min(ratios), max(ratios)
        if shares:
            result.share_of_limit = statistics.median(shares)
            result.peer_share_of_limit = statistics.median(peer_shares)
        memory = contest.memory()
        if memory:
            result.memory_mb, result.peer_memory_mb = memory
    except CannotRun as reason:
        result.note = f"not run: {reason}"
    except Disagree as reason:
        result.note = f"no comparison, the outputs disagree: {reason}"
    finally:
        contest.close()
    return result


def _operations_per_second(contest, figure):
    return contest.operations / (figure / 1000) if contest.unit == "ms" else contest.operations * figure
