"""What every row of the benchmarks is made of: contests between Heed and a peer, and what their turns come to.

A contest is prepared once, compared once, and then run in turns: Heed, peer, Heed, peer, and so on. The machine's speed
drifts, so the ratio of each turn is taken, and the median of these ratios is the result; their smallest and largest are
the spread.
"""

import ctypes
import statistics
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class CannotRun(Exception):
    """A row that this machine or this installation cannot run, and why."""


class Disagree(Exception):
    """Heed and the peer do not compute the same."""


class Contest:
    """One row. A subclass in rows/NAME.py sets these, and defines the methods that say so."""

    name = ""
    unit = ""  # of the figures; more is better, except for times ("ms")
    goal = None  # the ratio wanted; None: only shown
    limit = None  # which of Machine.LIMITS bounds it
    operations = None  # of the limit's kind for one unit of work; for "ms", for one call

    def prepare(self):
        """Makes what the turns need; may raise CannotRun."""

    def compare(self):
        """Says in a few words how far the outputs of the two are apart; raises Disagree where that is too far."""
        raise NotImplementedError

    def heed(self):
        """One turn of Heed's: a figure in `unit`."""
        raise NotImplementedError

    def peer(self):
        raise NotImplementedError

    def memory(self):
        """(Heed's, the peer's) largest memory in MB, or None where the two share a process."""
        return None

    def close(self):
        """Ends processes and removes files."""


class CallContest(Contest):
    """A row in which both are functions called in this process."""

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
        """The median time of the calls of one turn, the first not counted."""
        call()
        times, end = [], time.perf_counter() + self.seconds
        while len(times) < 5 or time.perf_counter() < end:
            begin = clock()
            call()
            times.append(clock() - begin)
        return statistics.median(times) * 1000


def clock():
    """Seconds; see choose_clock()."""
    return _clock()


_clock = time.perf_counter


def choose_clock(name):
    """"wall", or "cpu": time that this process computed, for machines that others use too. With one thread the two are
    the same on a quiet machine."""
    global _clock
    _clock = {"wall": time.perf_counter, "cpu": time.process_time}[name]


class Machine:
    """What the processor can do at most, measured beside the contests."""

    LIMITS = {"float32": "GFLOP/s of float32 multiply-adds from registers"}

    def __init__(self, threads):
        self.threads = threads
        self.library = load_library()

    def limit(self, kind):
        """Operations a second, of all threads in use."""
        assert kind == "float32"
        operations = ctypes.c_int64()
        best = 0.0
        for _ in range(5):
            begin = clock()
            self.library.heed_bench_multiply_add(ctypes.c_int64(200_000), ctypes.byref(operations))
            best = max(best, operations.value / (clock() - begin))
        return best * self.threads


_library = None


def load_library():
    """Heed's side of the rows that time single operations: bench/library."""
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
    """A row of the report. Where it could not be run, only `name`, `goal` and `note` are set."""

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
    """All turns of one contest."""
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
